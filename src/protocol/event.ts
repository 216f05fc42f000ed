import type { Artifact } from "./artifact.ts";
import type { JsonObject } from "./json.ts";
import type { TaskStatus } from "./task.ts";

/** The task has a new state, or a new status message in the same state. */
export interface StatusEvent {
  readonly kind: "status";
  readonly status: TaskStatus;
  readonly metadata?: JsonObject;
}

/** Creates or replaces the artifact with this id; with `append`, adds the parts to it. */
export interface ArtifactEvent {
  readonly kind: "artifact";
  readonly artifact: Artifact;
  /** False: the parts replace the artifact with the same id, or create it. True: they are added to it. */
  readonly append: boolean;
  /** The artifact is complete. */
  readonly lastChunk: boolean;
  readonly metadata?: JsonObject;
}

/** One event of a task's log, without its seq. */
export type TaskEvent = StatusEvent | ArtifactEvent;
