import type { Artifact } from "./artifact.ts";
import type { ContextId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { TaskState } from "./state.ts";

export interface TaskStatus {
  readonly state: TaskState;
  /** Only in tasks of remote agents: the remote agent sent no state, and `state` is an assumption. */
  readonly isUnspecified?: true;
  readonly message?: Message;
  /** UTC with milliseconds and `Z`. Absent only if a remote agent sends none. */
  readonly timestamp?: string | undefined;
}

/** A task at one seq of its log. `artifacts` and `history` are absent if they were not requested. */
export interface Task {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: JsonObject;
}
