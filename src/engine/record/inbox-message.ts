import type { CallPath } from "../../protocol/call-path.ts";
import type { Message } from "../../protocol/message.ts";
import { readMessage, writeMessage } from "../../protocol/serial.ts";

/** What is stored in an inbox entry beside the message itself. */
interface InboxDetails {
  /** The agents that the message passed through. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /**
   * The request ids of the questions that the message answers, as decided when it was accepted; empty: none. Absent: the message itself names
   * its questions by request id, or an earlier release stored it.
   */
  readonly answers?: readonly string[] | undefined;
}

/** A message in a task's inbox. */
export interface InboxMessage extends InboxDetails {
  readonly message: Message;
}

/** Earlier releases stored the call path as a member of the message. */
type StoredMessage = Message & { readonly inbox?: InboxDetails; readonly callPath?: CallPath };

/** How the text of a message with details begins. No other message begins so, because callers cannot add members to messages. */
const DETAILS_FIRST = '{"inbox":{';

/** The stored text: the text of the message, with the details as its first member. */
export function writeInboxMessage({ message, callPath = [], answers }: InboxMessage): string {
  const text = writeMessage(message);
  if (callPath.length === 0 && answers === undefined) return text;
  const details: InboxDetails = {
    ...(callPath.length > 0 && { callPath }),
    ...(answers !== undefined && { answers }),
  };
  return `{"inbox":${JSON.stringify(details)},${text.slice(1)}`;
}

export function readInboxMessage(body: string): InboxMessage {
  const { inbox, callPath, ...message }: StoredMessage = readMessage(body);
  return { message, ...(callPath !== undefined && { callPath }), ...inbox };
}

/** The text of the message alone. The store moves unread messages into the history as they are when their task ends. */
export function withoutDetails(body: string): string {
  return body.startsWith(DETAILS_FIRST) ? writeMessage(readInboxMessage(body).message) : body;
}
