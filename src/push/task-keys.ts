import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import { otherTaskKey, taskKey } from "../protocol/task-key.ts";

/** Everything that a scope's task of that id may be kept as, the likeliest first. */
export function taskKeys(scope: Scope, id: TaskId): readonly TaskId[] {
  const other = otherTaskKey(scope, id);
  return other === undefined ? [taskKey(scope, id)] : [taskKey(scope, id), other];
}
