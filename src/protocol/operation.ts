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

export type Operation = (typeof OPERATIONS)[number];

interface Addressed {
  /** Empty: no tenant. */
  readonly tenant: string;
}

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
  readonly push?: PushConfig;
  /** The agents that the message passed through, to be sent with it. Absent: none. */
  readonly callPath?: CallPath;
}

export interface GetRequest extends Addressed {
  readonly operation: "get";
  readonly id: TaskId;
  readonly history: number | undefined;
}

export interface ListRequest extends Addressed {
  readonly operation: "list";
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Only tasks whose status has this time (milliseconds since 1970) or a later one. */
  readonly statusSince?: number;
  readonly pageSize: number;
  /** Cursor of the page before. */
  readonly before?: ListPosition;
  readonly artifacts: boolean;
  readonly history: number | undefined;
}

/** Position of the last task of a page. Lists are sorted from new to old. */
export interface ListPosition {
  readonly at: number;
  readonly id: string;
}

export interface CancelRequest extends Addressed {
  readonly operation: "cancel";
  readonly id: TaskId;
  readonly metadata: JsonObject;
}

export interface SubscribeRequest extends Addressed {
  readonly operation: "subscribe";
  readonly id: TaskId;
}

/** A webhook as its caller sets it. */
export interface PushConfig {
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  /** How to authenticate at the webhook. The first scheme is used; the others are only stored. */
  readonly authentication?: { readonly schemes: readonly [string, ...string[]]; readonly credentials?: string };
  /** Additional headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Kinds of events to send. Absent: all. */
  readonly events?: readonly PushEventKind[];
}

export const PUSH_EVENT_KINDS = ["status", "artifact"] as const;
export type PushEventKind = (typeof PUSH_EVENT_KINDS)[number];

/** A stored webhook, with its id and masked secrets. */
export type KeptPushConfig = PushConfig & { readonly id: string };

export interface PushCreateRequest extends Addressed {
  readonly operation: "push-create";
  readonly taskId: TaskId;
  readonly config: PushConfig;
}

export interface PushGetRequest extends Addressed {
  readonly operation: "push-get";
  readonly taskId: TaskId;
  /** Absent: the latest. */
  readonly id?: string;
}

export interface PushDeleteRequest extends Addressed {
  readonly operation: "push-delete";
  readonly taskId: TaskId;
  /** Absent: the latest. */
  readonly id?: string;
}

export interface PushListRequest extends Addressed {
  readonly operation: "push-list";
  readonly taskId: TaskId;
  /** Absent: all. */
  readonly pageSize?: number;
  /** Id of the last webhook of the page before. */
  readonly after?: string;
}

export interface ExtendedCardRequest extends Addressed {
  readonly operation: "extended-card";
}

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
