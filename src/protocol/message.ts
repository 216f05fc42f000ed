import type { ContextId, MessageId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Part } from "./part.ts";

/** The sender: `user` is the calling side, also if it is another agent. */
export type Role = "user" | "agent";

/** One message between a caller and an agent (A2A 1.0 §4.1.4). */
export interface Message {
  /** Servers may use it to recognise a repeated message (A2A 1.0 §3.3.1). */
  readonly messageId: MessageId;
  readonly role: Role;
  /** At least one. */
  readonly parts: readonly Part[];
  /**
   * The conversation. Without `taskId` the message starts a new task in it (A2A 1.0 §3.4.1), or answers the only task in it that waits for
   * input (server option `answerByContext`).
   */
  readonly contextId?: ContextId;
  /** The task that the message continues. A task that ended cannot be continued (A2A 1.0 §3.4.2). */
  readonly taskId?: TaskId;
  /** Tasks that the message refers to. Only a hint for the agent: it does not continue them. */
  readonly referenceTaskIds?: readonly TaskId[];
  /** URIs of the extensions whose data `metadata` contains. */
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}
