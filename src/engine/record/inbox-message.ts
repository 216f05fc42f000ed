import type { CallPath } from "../../protocol/call-path.ts";
import type { Message } from "../../protocol/message.ts";
import { readMessage, writeMessage } from "../../protocol/serial.ts";

/** A message that waits in a task's inbox, with what must be known of it besides until the run takes it. */
interface InboxMessage {
  readonly message: Message;
  /** The agents that the message has passed. Absent: none. */
  readonly callPath?: CallPath | undefined;
}

/** The text of a message and its path. The path is a member of its own, which no caller can set: messages have only known members. */
export function writeInboxMessage(message: Message, callPath: CallPath = []): string {
  if (callPath.length === 0) return writeMessage(message);
  const withPath: Message & { readonly callPath: CallPath } = { ...message, callPath };
  return writeMessage(withPath);
}

export function readInboxMessage(body: string): InboxMessage {
  const message: Message & { readonly callPath?: CallPath } = readMessage(body);
  if (message.callPath === undefined) return { message };
  const { callPath, ...rest } = message;
  return { message: rest, callPath };
}
