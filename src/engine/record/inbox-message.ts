import type { CallPath } from "../../protocol/call-path.ts";
import type { Message } from "../../protocol/message.ts";
import { readMessage, writeMessage } from "../../protocol/serial.ts";

/** A message in a task's inbox, with the data that is not part of the message itself. */
interface InboxMessage {
  readonly message: Message;
  /** The agents that the message passed through. Absent: none. */
  readonly callPath?: CallPath | undefined;
}

/** The stored text. The call path is an additional member; callers cannot set it, because unknown members of messages are removed. */
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
