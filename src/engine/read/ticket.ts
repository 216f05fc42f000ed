import { publicTaskId } from "../../protocol/task-key.ts";
import type { TaskRef, Ticket } from "../api.ts";
import type { Feed } from "./feed.ts";

/** The reference with the task id that callers know. */
export function publicRef(ref: TaskRef): TaskRef {
  const id = publicTaskId(ref.id);
  return id === ref.id ? ref : { ...ref, id };
}

/** A ticket for the message that created the task. */
export function ticketOf({ id, contextId }: Pick<TaskRef, "id" | "contextId">): Ticket {
  return { taskId: publicTaskId(id), key: id, contextId };
}

/**
 * Whether the message of the ticket is done when the task asks a question with the event `seq`: it was consumed before that event; or it
 * arrived before the question and answers no open question, so that it waits for a later turn.
 */
export function isHandledAt(feed: Feed, { inbox, asked = 0, answers = [] }: Ticket, seq: number): boolean {
  if (inbox === undefined) return true;
  const consumed = feed.consumedAfter(inbox);
  if (consumed !== undefined) return consumed < seq;
  return seq > asked && !feed.questions?.open.some(({ id }) => answers.includes(id));
}
