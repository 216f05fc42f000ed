import { createHash } from "node:crypto";
import type { JsonValue } from "../../protocol/json.ts";
import type { SubmittedRequest } from "../api.ts";

/**
 * SHA-256 over the content of a send: the message without its id, and the request's metadata. The options that only say how to answer, such as
 * output modes, are left out, so a client that retries with other options still repeats the same message. So are `referenceTaskIds`: A2A 0.3 over REST
 * does not have them, and a client may repeat a message over another interface.
 */
export function messageDigest({ message, metadata }: Pick<SubmittedRequest, "message" | "metadata">): string {
  const { messageId: _id, referenceTaskIds: _references, ...content } = message;
  return createHash("sha256")
    .update(JSON.stringify([content, metadata], sortMembers))
    .digest("base64url");
}

/** A `JSON.stringify` replacer that sorts members by name, so that their order does not change the digest. */
function sortMembers(_name: string, value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // Object.fromEntries, because assigning a member called `__proto__` would set the prototype.
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
