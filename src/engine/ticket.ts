import { publicTaskId } from "../protocol/task-key.ts";
import type { TaskRef, Ticket } from "./api.ts";

/** A ticket for the message that made the task. */
export function ticketOf({ id, contextId }: Pick<TaskRef, "id" | "contextId">): Ticket {
  return { taskId: publicTaskId(id), key: id, contextId };
}
