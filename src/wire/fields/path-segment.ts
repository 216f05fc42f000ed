import { invalidField } from "../../protocol/error.ts";
import { asId } from "./fields.ts";

/**
 * An id as one percent-encoded path segment: `a/b` becomes `a%2Fb`. `name` is the field in errors. Throws `invalid-params` for an id that
 * `asId` rejects, and for `.` and `..`.
 */
export function pathSegment(value: string | undefined, name: string): string {
  const id = asId(value, name);
  // URL parsers resolve these as relative segments, even percent-encoded.
  if (id === "." || id === "..") throw invalidField(name, `must not be ${id}, which is not allowed in a URL path`);
  return encodeURIComponent(id);
}
