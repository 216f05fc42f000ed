import { publicTaskId } from "../../protocol/task-key.ts";
import type { TaskRef, Ticket } from "../api.ts";
import type { Feed } from "./feed.ts";

/** The task as the host knows it: by what its callers call it. */
export function publicRef(ref: TaskRef): TaskRef {
  const id = publicTaskId(ref.id);
  return id === ref.id ? ref : { ...ref, id };
}

/** A ticket for the message that made the task. */
export function ticketOf({ id, contextId }: Pick<TaskRef, "id" | "contextId">): Ticket {
  return { taskId: publicTaskId(id), key: id, contextId };
}

/**
 * Whether nothing works on the ticket's message any more when the task asks the question at `seq`: the message was consumed before, or it
 * was stored before that question and answers none that is open.
 */
export function isHandledAt(feed: Feed, { inbox, asked = 0, answers = [] }: Ticket, seq: number): boolean {
  if (inbox === undefined) return true;
  const taken = feed.consumedAfter(inbox);
  if (taken !== undefined) return taken < seq;
  return seq > asked && !feed.questions?.open.some(({ id }) => answers.includes(id));
}
