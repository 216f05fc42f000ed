import { invalidField } from "../../protocol/error.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

/** `{}`. Throws `invalid-params`. */
export function emptyBody(members: ReadonlyMap<string, unknown>): void {
  for (const name of members.keys()) throw invalidField(name.slice(0, 64), "is not a member; the body must be {}");
}

/** `{ text }`, `{ data }` or both, as parts of a message. Throws `invalid-params`. */
export function answerParts(members: ReadonlyMap<string, unknown>): readonly Part[] {
  for (const name of members.keys()) {
    if (name !== "text" && name !== "data") throw invalidField(name.slice(0, 64), "is not a member; use text, data");
  }
  const text = members.get("text");
  if (text !== undefined && typeof text !== "string") throw invalidField("text", "must be a string");
  // Safe cast: the body was parsed from JSON.
  const data = members.get("data") as JsonValue | undefined;
  const parts: readonly Part[] = [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])];
  if (parts.length === 0) throw invalidField("text", "or data is required");
  return parts;
}
