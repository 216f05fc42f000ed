import type { Feed } from "./feed.ts";

/** A message in the inbox of a task, as its sender follows it. */
export interface PostedMessage {
  /** Id of the inbox entry. */
  readonly inbox: string;
  /** Seq of the task just before the message was stored: it may have caused any event after this one. */
  readonly after?: number;
  /** Seq of the last question that was visible when the message was accepted: the message does not answer later questions. Default 0. */
  readonly asked?: number;
  /** The request ids of the open questions that the message answers. */
  readonly answers?: readonly string[];
}

/**
 * Whether the message is done when the task asks a question with the event `seq`: it was consumed before that event; or it arrived before the
 * question and answers no open question, so that it waits for a later turn. `undefined`: the message that created the task, which is always
 * consumed first.
 */
export function isHandledAt(feed: Feed, message: PostedMessage | undefined, seq: number): boolean {
  if (message === undefined) return true;
  const { inbox, asked = 0, answers = [] } = message;
  const consumed = feed.consumedAfter(inbox);
  if (consumed !== undefined) return consumed < seq;
  return seq > asked && !feed.questions?.open.some(({ id }) => answers.includes(id));
}
