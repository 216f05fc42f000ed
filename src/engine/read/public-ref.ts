import { publicTaskId } from "../../protocol/task-key.ts";
import type { TaskRef } from "../api.ts";

/** The reference with the task id that callers know. */
export function publicRef(ref: TaskRef): TaskRef {
  const id = publicTaskId(ref.id);
  return id === ref.id ? ref : { ...ref, id };
}
