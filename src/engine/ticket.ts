import { publicTaskId } from "../protocol/task-key.ts";
import type { TaskRef, Ticket } from "./api.ts";

/** The task as the host knows it: by what its callers call it. */
export function publicRef(ref: TaskRef): TaskRef {
  const id = publicTaskId(ref.id);
  return id === ref.id ? ref : { ...ref, id };
}

/** A ticket for the message that made the task. */
export function ticketOf({ id, contextId }: Pick<TaskRef, "id" | "contextId">): Ticket {
  return { taskId: publicTaskId(id), key: id, contextId };
}
