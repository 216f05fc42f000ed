import { createHash } from "node:crypto";

const MARK = "once:";

/** What the inbox entry of a message that is to count once is called: after the message's own id, and after what it says. */
export function onceEntry(messageId: string, digest: string): string {
  return entriesOf(messageId) + digest;
}

/** How the names of all entries begin that messages of this id may have made, whatever they said. */
export function entriesOf(messageId: string): string {
  return `${MARK}${createHash("sha256").update(messageId).digest("base64url")}:`;
}

export function isOnceEntry(id: string): boolean {
  return id.startsWith(MARK);
}
