import type { Artifact } from "./artifact.ts";
import type { ContextId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { TaskState } from "./state.ts";

/** The state of a task and what the agent says about it (A2A 1.0 §4.1.2). */
export interface TaskStatus {
  readonly state: TaskState;
  /** Only in tasks of remote agents: the remote agent sent no state, and `state` is an assumption. */
  readonly isUnspecified?: true;
  /** The question if the task waits, the reason if it failed, otherwise progress. */
  readonly message?: Message;
  /** UTC with milliseconds and `Z`. Absent only if a remote agent sends none. */
  readonly timestamp?: string | undefined;
}

/** The status text of a task whose agent threw an unexpected error. The error itself is only logged. */
export const AGENT_FAILED = "The agent failed while working on this task.";

/** A task at one seq of its log. `artifacts` and `history` are absent if they were not requested. */
export interface Task {
  readonly id: TaskId;
  /** Empty if a remote agent sends none. */
  readonly contextId: ContextId;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  /** Oldest first. May be only the latest messages: see `history` of the request. */
  readonly history?: readonly Message[];
  readonly metadata?: JsonObject;
  /**
   * How many changes the task has had: 1 when it was created, then one more with each event. Only in tasks of remote agents that send it
   * (A2A 1.1).
   */
  readonly generation?: number;
}
