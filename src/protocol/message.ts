import type { ContextId, MessageId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Part } from "./part.ts";

export type Role = "user" | "agent";

export interface Message {
  readonly messageId: MessageId;
  readonly role: Role;
  /** At least one. */
  readonly parts: readonly Part[];
  readonly contextId?: ContextId;
  readonly taskId?: TaskId;
  readonly referenceTaskIds?: readonly TaskId[];
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}
