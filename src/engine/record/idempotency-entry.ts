import { createHash } from "node:crypto";

/** Stored in the ids of inbox entries, and therefore never changed. */
const PREFIX = "once:";

/**
 * The id of the inbox entry for an idempotent message: `once:<hash of the message id>:<digest of the content>`. The same message always
 * gets the same id, so the store refuses a repetition as `duplicate`.
 */
export function idempotencyEntryId(messageId: string, digest: string): string {
  return idempotencyEntryPrefix(messageId) + digest;
}

/** The beginning that all entry ids of this message id have in common, whatever the content. */
export function idempotencyEntryPrefix(messageId: string): string {
  return `${PREFIX}${createHash("sha256").update(messageId).digest("base64url")}:`;
}

/** Whether the inbox entry belongs to an idempotent message. */
export function isIdempotencyEntry(id: string): boolean {
  return id.startsWith(PREFIX);
}
