import { invalidField } from "../../protocol/error.ts";
import { asId } from "./fields.ts";

/** An id as one segment of a path. Throws if it cannot be one. */
export function pathSegment(value: string | undefined, name: string): string {
  const id = asId(value, name);
  // Every reader of URLs takes these for a way up, percent-encoded or not.
  if (id === "." || id === "..") throw invalidField(name, `must not be ${id}, which cannot stand in a path`);
  return encodeURIComponent(id);
}
