import { createHash } from "node:crypto";
import type { JsonValue } from "../../protocol/json.ts";
import type { Submission } from "../api.ts";

/**
 * Stands for what a caller said: two messages have the same one if, and only if, they say the same to the same agent, task and skill.
 * How the answer is wanted, and what the message is called, are no part of it.
 */
export function messageDigest({ message, metadata }: Pick<Submission, "message" | "metadata">): string {
  const { messageId: _, ...said } = message;
  return createHash("sha256")
    .update(JSON.stringify([said, metadata], inOrder))
    .digest("base64url");
}

/** The same members in the same order, in whichever they came. */
function inOrder(_name: string, value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // From entries and not by assignment, by which one name would set the prototype.
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
