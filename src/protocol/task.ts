import type { Artifact } from "./artifact.ts";
import type { ContextId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { TaskState } from "./state.ts";

export interface TaskStatus {
  readonly state: TaskState;
  /** Only of other agents' tasks: the agent does not say the state, and `state` is what it is taken for. */
  readonly isUnspecified?: true;
  readonly message?: Message;
  /** UTC with milliseconds and `Z`. Absent only where a remote agent gives none: tasks of this server always have it. */
  readonly timestamp?: string | undefined;
}

/** A task as it stood at one seq of its log. `artifacts` and `history` are absent where nobody asked for them. */
export interface Task {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: JsonObject;
}
