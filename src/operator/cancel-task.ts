import { A2AError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { OperatorParts } from "./contract.ts";
import { shownTask } from "./list-tasks.ts";
import { recordOf } from "./read-task.ts";

/** Cancels a task of any caller, as the caller could, and returns it after its end. Rejects with `task-not-found` or `task-not-cancelable`. */
export async function cancelTask(parts: OperatorParts, key: TaskId): Promise<object> {
  const { id, scope } = await recordOf(parts, key, 0);
  const result = await parts.engine.cancel(scope, publicTaskId(id));
  if (result === "not-found") throw new A2AError("task-not-found", "Task not found");
  if (result === "too-late") throw new A2AError("task-not-cancelable", "The task has ended and cannot be canceled");
  return { task: shownTask(await recordOf(parts, key, 0)) };
}
