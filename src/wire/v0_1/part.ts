import type { Part } from "../../protocol/part.ts";
import { isWireObject, member } from "../fields/fields.ts";
import { taggedPart } from "../v0_3/part.ts";

/** Encodes a part in the format of 0.1: as in 0.2, but with `type` instead of `kind`. */
export function partObject(part: Part): object {
  return taggedPart(part, "type");
}

const TAGS = ["type", "kind"];
/** The content members of a file, also those that only lenient readers accept. */
const CONTENTS = ["bytes", "data", "uri", "url"];

/**
 * Converts a part of 0.1 to the format of 0.2, without validating it; readers of 0.2 accept both tags. Only 0.1 has files without content:
 * such a file becomes a data part: `{"type":"file","file":{"name":"a.txt"}}` becomes `{"type":"data","data":{"file":{"name":"a.txt"}}}`.
 */
export function newerPart(value: unknown): unknown {
  if (!isWireObject(value)) return value;
  const tag = TAGS.find((name) => member(value, name) !== undefined);
  if (tag !== undefined && value[tag] !== "file") return value;
  const { file, ...rest } = value;
  if (!isAbsentFile(file) || member(rest, "data") !== undefined) return value;
  return { ...rest, ...(tag !== undefined && { [tag]: "data" }), data: { file } };
}

function isAbsentFile(file: unknown): boolean {
  return isWireObject(file) && CONTENTS.every((name) => member(file, name) === undefined);
}

/** Converts a list of parts; returns any other value unchanged. */
export function newerParts(value: unknown): unknown {
  return Array.isArray(value) ? value.map(newerPart) : value;
}
