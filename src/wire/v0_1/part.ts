import type { Part } from "../../protocol/part.ts";
import { isWireObject, member } from "../fields/fields.ts";
import { taggedPart } from "../v0_3/part.ts";

/** A part as this version spells it: as the next one does, but for the name of its tag. */
export function partObject(part: Part): object {
  return taggedPart(part, "type");
}

const TAGS = ["type", "kind"];
const CONTENTS = ["bytes", "data", "uri", "url"];

/**
 * What somebody sent as a part, such that the reader of the next version understands it, which does for either tag. Only this
 * version has files that are named without being there; there is no such part any more, so the name is told as data.
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

/** The same for a list of parts, or whatever came instead. */
export function newerParts(value: unknown): unknown {
  return Array.isArray(value) ? value.map(newerPart) : value;
}
