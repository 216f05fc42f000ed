import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import { otherTaskKey, taskKey } from "../protocol/task-key.ts";

/** The store keys under which the task with this id may be stored in this scope, the most likely first. */
export function taskKeys(scope: Scope, id: TaskId): readonly TaskId[] {
  const other = otherTaskKey(scope, id);
  return other === undefined ? [taskKey(scope, id)] : [taskKey(scope, id), other];
}
