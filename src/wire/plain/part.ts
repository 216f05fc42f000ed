import { invalidField } from "../../protocol/error.ts";
import type { Part, TextPart } from "../../protocol/part.ts";
import { asObject, asString, member } from "../fields/fields.ts";

/** Encodes a part as text: the plain dialect has no other parts. */
export function partObject(part: Part): object {
  return { type: "text", text: partText(part) };
}

/**
 * A part as text: data as JSON, a file by its URL or, if it is inline, by its name.
 * `{ url: "https://…", filename: "a.pdf" }` becomes `a.pdf: https://…`. `{ raw, mediaType: "image/png" }` becomes `[file, image/png]`.
 */
export function partText(part: Part): string {
  if (part.text !== undefined) return part.text;
  if (part.url !== undefined) return part.filename === undefined ? part.url : `${part.filename}: ${part.url}`;
  if (part.raw === undefined) return JSON.stringify(part.data);
  const { filename = "file", mediaType } = part;
  return mediaType === undefined ? `[${filename}]` : `[${filename}, ${mediaType}]`;
}

/** Decodes a part from a caller. `type` may be missing. Lenient: `type` may be named `kind`. */
export function decodePart(value: unknown, path: string, lenient: boolean): TextPart {
  const wire = asObject(value, path);
  for (const name of ["type", "kind"]) {
    const type = member(wire, name);
    if (type === undefined) continue;
    if (name === "kind" && !lenient) throw invalidField(`${path}.kind`, "must be named type");
    if (type !== "text") throw invalidField(`${path}.${name}`, "must be text");
  }
  const text = member(wire, "text");
  if (text === undefined) throw invalidField(`${path}.text`, "is required");
  return { text: asString(text, `${path}.text`) };
}
