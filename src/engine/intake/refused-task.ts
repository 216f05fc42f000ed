import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { WriterLoss } from "../log/writer-contract.ts";

/** The caller chose the id of a task that exists already. */
export class TaskIdTaken extends A2AError {
  constructor(cause: unknown) {
    super("invalid-params", "A task with this id already exists.", { cause });
  }
}

/** The error for a caller whose new task was not stored. */
export function refusedTask(loss: WriterLoss | undefined, cause?: unknown): A2AError {
  const status = loss?.kind === "refused" ? loss.status : undefined;
  if (status === "full")
    return new A2AError("resource-exhausted", "The server has reached its limit of stored tasks.", { cause });
  if (status === "duplicate") return new TaskIdTaken(cause);
  return new A2AError("unavailable", "The task could not be stored; try again in 5 s.", { cause, retryAfter: 5 });
}

export function taskNotFound(id: TaskId): A2AError {
  return new A2AError("task-not-found", "Task not found", { metadata: { taskId: publicTaskId(id) } });
}
