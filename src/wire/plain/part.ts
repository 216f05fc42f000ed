import { invalidField } from "../../protocol/error.ts";
import type { Part, TextPart } from "../../protocol/part.ts";
import { asObject, asString, member } from "../fields/fields.ts";

/** A part as this dialect spells it, which knows nothing but text. */
export function partObject(part: Part): object {
  return { type: "text", text: partText(part) };
}

/** What can be said of a part in words: data as JSON, a file by where it is or, if it came inline, by what it is called. */
export function partText(part: Part): string {
  if (part.text !== undefined) return part.text;
  if (part.url !== undefined) return part.filename === undefined ? part.url : `${part.filename}: ${part.url}`;
  if (part.raw === undefined) return JSON.stringify(part.data);
  const { filename = "file", mediaType } = part;
  return mediaType === undefined ? `[${filename}]` : `[${filename}, ${mediaType}]`;
}

/** A part from a caller. It may leave out its `type`, since it can be only one, or, read liberally, call it `kind`. */
export function decodePart(value: unknown, path: string, lenient: boolean): TextPart {
  const wire = asObject(value, path);
  for (const name of ["type", "kind"]) {
    const type = member(wire, name);
    if (type === undefined) continue;
    if (name === "kind" && !lenient) throw invalidField(`${path}.kind`, "must be called type");
    if (type !== "text") throw invalidField(`${path}.${name}`, "must be text");
  }
  const text = member(wire, "text");
  if (text === undefined) throw invalidField(`${path}.text`, "is required");
  return { text: asString(text, `${path}.text`) };
}
