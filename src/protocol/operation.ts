// Requests and results of all operations in the neutral model. Codecs decode requests of every version into these types, and `server/`
// performs them without knowing the version; where versions differ in behaviour, `OperationPolicy` says how.

import type { CallPath } from "./call-path.ts";
import type { AgentCard } from "./card.ts";
import type { ContextId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { StoredTask } from "./serial.ts";
import type { TaskState } from "./state.ts";

/** The operations of A2A, independent of the dialect. */
export const OPERATIONS = [
  "send",
  "stream",
  "get",
  "list",
  "cancel",
  "subscribe",
  "push-create",
  "push-get",
  "push-list",
  "push-delete",
  "extended-card",
] as const;

/** The neutral name of an operation. A2A 1.0 §5.3 has its names in every binding. */
export type Operation = (typeof OPERATIONS)[number];

interface Addressed {
  /** Empty: no tenant. */
  readonly tenant: string;
}

/** Sends a message: starts a task, continues one, or gets a direct reply. */
export interface SendRequest extends Addressed {
  /** `send` returns one answer, `stream` returns events. */
  readonly operation: "send" | "stream";
  readonly message: Message;
  /** Metadata of the request, not of the message. */
  readonly metadata: JsonObject;
  /** Media types the caller accepts; empty: any. */
  readonly outputModes: readonly string[];
  /** How many messages to return, counted from the end; `undefined`: the server decides; 0: none. */
  readonly history: number | undefined;
  /** Milliseconds to wait for the task to end or to ask a question; usually 0 or `Infinity`. */
  readonly waitMs: number;
  /** Milliseconds until the task fails unless it has ended. Time spent sleeping or waiting for an answer counts. */
  readonly timeoutMs?: number;
  /** A webhook, stored in the same transaction as the message, so that it misses no event of the task. */
  readonly push?: PushConfig;
  /** Accept a message to an existing task only if this is the seq of the task's last event and no other message was accepted since. */
  readonly expectedSeq?: number;
  /** The agents that the message passed through, to be sent with it. Absent: none. */
  readonly callPath?: CallPath;
}

/** Reads one task. */
export interface GetRequest extends Addressed {
  readonly operation: "get";
  readonly id: TaskId;
  /** As in `SendRequest`. */
  readonly history: number | undefined;
  /** Answer once the task has events after this seq, has ended, or the server's longest wait is over. Absent: at once. */
  readonly waitAfterSeq?: number;
}

/** Reads one page of the caller's tasks, the latest status first (A2A 1.0 §3.1.4). */
export interface ListRequest extends Addressed {
  readonly operation: "list";
  readonly contextId?: ContextId;
  /** Only tasks in this state. Absent: all. */
  readonly state?: TaskState;
  /** Only tasks whose status has this time (milliseconds since 1970) or a later one. */
  readonly statusSince?: number;
  /** Maximum number of tasks to return. */
  readonly pageSize: number;
  /** Cursor of the page before. */
  readonly before?: ListPosition;
  /** Include the artifacts of the tasks. */
  readonly artifacts: boolean;
  readonly history: number | undefined;
}

/** Position of the last task of a page. Lists are sorted from new to old. */
export interface ListPosition {
  /** The time of the task's status, in milliseconds since 1970. */
  readonly at: number;
  /** The task's id; decides the order of tasks with the same time. */
  readonly id: string;
}

/** Asks the agent to stop. The task may still end in another way (A2A 1.0 §3.1.5). */
export interface CancelRequest extends Addressed {
  readonly operation: "cancel";
  readonly id: TaskId;
  readonly metadata: JsonObject;
}

/** Reads the events of an existing task, beginning with its current state. */
export interface SubscribeRequest extends Addressed {
  readonly operation: "subscribe";
  readonly id: TaskId;
}

/** A webhook as its caller sets it. */
export interface PushConfig {
  /** Absent: the server creates one. The id of an existing webhook of the task replaces that webhook. */
  readonly id?: string;
  /** Where notifications are sent, by POST. The server checks it when the webhook is set and again at every delivery. */
  readonly url: string;
  /** Sent with every notification as `X-A2A-Notification-Token`, so that the receiver can recognise its own webhook. */
  readonly token?: string;
  /** How to authenticate at the webhook. The first scheme is used; the others are only stored. */
  readonly authentication?: { readonly schemes: readonly [string, ...string[]]; readonly credentials?: string };
  /** Additional headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Kinds of events to send. Absent: all. */
  readonly events?: readonly PushEventKind[];
}

/** The kinds of events that a webhook can ask for in `PushConfig.events`. */
export const PUSH_EVENT_KINDS = ["status", "artifact"] as const;
export type PushEventKind = (typeof PUSH_EVENT_KINDS)[number];

/** A stored webhook, with its id and masked secrets. */
export type KeptPushConfig = PushConfig & { readonly id: string };

/** Registers or replaces a webhook of a task. */
export interface PushCreateRequest extends Addressed {
  readonly operation: "push-create";
  readonly taskId: TaskId;
  readonly config: PushConfig;
}

/** Reads one webhook of a task. */
export interface PushGetRequest extends Addressed {
  readonly operation: "push-get";
  readonly taskId: TaskId;
  /** Absent: the latest. */
  readonly id?: string;
}

/** Deletes one webhook of a task. Succeeds if the webhook does not exist (A2A 1.0 §3.1.10). */
export interface PushDeleteRequest extends Addressed {
  readonly operation: "push-delete";
  readonly taskId: TaskId;
  /** Absent: the latest. */
  readonly id?: string;
}

/** Reads the webhooks of a task, one page at a time. */
export interface PushListRequest extends Addressed {
  readonly operation: "push-list";
  readonly taskId: TaskId;
  /** Absent: all. */
  readonly pageSize?: number;
  /** Id of the last webhook of the page before. */
  readonly after?: string;
}

/** Reads the card for authenticated callers. */
export interface ExtendedCardRequest extends Addressed {
  readonly operation: "extended-card";
}

/** Every request that a codec can decode. `operation` distinguishes them. */
export type OperationRequest =
  | SendRequest
  | GetRequest
  | ListRequest
  | CancelRequest
  | SubscribeRequest
  | PushCreateRequest
  | PushGetRequest
  | PushDeleteRequest
  | PushListRequest
  | ExtendedCardRequest;

/** The answer of an operation that does not stream. */
export type OperationResult =
  | { readonly kind: "sent"; readonly task: StoredTask }
  | { readonly kind: "replied"; readonly message: Message }
  | { readonly kind: "task"; readonly task: StoredTask }
  | {
      readonly kind: "tasks";
      readonly tasks: readonly StoredTask[];
      readonly total: number;
      /** The page size that was applied, not the number of tasks returned. */
      readonly pageSize: number;
      readonly next?: ListPosition;
    }
  /** `config` is absent if there is none and the dialect does not treat that as an error. */
  | {
      readonly kind: "push";
      readonly taskId: TaskId;
      readonly config?: KeptPushConfig;
      /** The call set the webhook. Absent: the call only read it. */
      readonly set?: true;
    }
  /** In the order they were first set. `next`: pass it to get the next page. */
  | {
      readonly kind: "pushes";
      readonly taskId: TaskId;
      readonly configs: readonly KeptPushConfig[];
      readonly next?: string;
    }
  | { readonly kind: "push-deleted" }
  | { readonly kind: "card"; readonly card: AgentCard };

/** Differences in behaviour between dialects. */
export interface OperationPolicy {
  /** The stream of a send ends when the task asks a question. */
  readonly closeOnInputRequired: boolean;
  /** The result of subscribing to an ended task. */
  readonly terminalSubscribe: "error" | "snapshot";
  /** The result of canceling a canceled task. */
  readonly repeatCancel: "error" | "snapshot";
  /** The error if the agent declares no extended card. */
  readonly undeclaredExtendedCard: "unsupported-operation" | "extended-card-not-configured";
  /** The error if the agent has extended cards, but none for this caller. Default `extended-card-not-configured`. */
  readonly deniedExtendedCard?: "permission-denied";
  /** A send with an unknown task id creates a task with that id instead of an error. */
  readonly namesTasks: boolean;
  /** The agent's `reply` is returned as a completed task, because the dialect has no bare messages. */
  readonly tasksOnly: boolean;
  /** A message without a task id continues a waiting task if it refers to it (`referenceTaskIds`) and answers its question by request id. */
  readonly answersByReference: boolean;
  /** False: callers do not see that a task waits for input, so a message with a context id only creates a task. Default true. */
  readonly answersByContext?: false;
  readonly push: PushPolicy;
  /**
   * Artifacts of tasks created in that dialect are identified by their index, so a stream that starts in the middle needs the artifacts before it.
   * Absent: never.
   */
  numbersArtifacts?(origin: string | undefined): boolean;
}

/** Differences between dialects in webhook operations. */
export interface PushPolicy {
  /** A task has at most one webhook: setting another replaces it. */
  readonly single: boolean;
  /** The result of reading a webhook that does not exist: an error, or an answer without a webhook. */
  readonly missing: "error" | "nothing";
  /** An id that stands for the latest webhook that was set without an id. */
  readonly unnamedId?: string;
  /** What happens to a webhook after delivery failed for good. */
  readonly afterFailure: "removed" | "suspended";
}
