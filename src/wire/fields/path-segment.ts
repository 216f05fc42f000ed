import { invalidField } from "../../protocol/error.ts";
import { asId } from "./fields.ts";

/** An id as one percent-encoded path segment. Throws `invalid-params` for `.` and `..`. */
export function pathSegment(value: string | undefined, name: string): string {
  const id = asId(value, name);
  // URL parsers resolve these as relative segments, even percent-encoded.
  if (id === "." || id === "..") throw invalidField(name, `must not be ${id}, which is not allowed in a URL path`);
  return encodeURIComponent(id);
}
