import type { Artifact } from "./artifact.ts";
import type { JsonObject } from "./json.ts";
import type { TaskStatus } from "./task.ts";

export interface StatusEvent {
  readonly kind: "status";
  readonly status: TaskStatus;
  readonly metadata?: JsonObject;
}

/** Without `append` the artifact of that id is replaced (or made); with it, the parts are added to it. */
export interface ArtifactEvent {
  readonly kind: "artifact";
  readonly artifact: Artifact;
  readonly append: boolean;
  /** The artifact is complete. */
  readonly lastChunk: boolean;
  readonly metadata?: JsonObject;
}

/** One entry of a task's log, apart from its number. */
export type TaskEvent = StatusEvent | ArtifactEvent;
