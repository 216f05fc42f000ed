import type { CallPath } from "./call-path.ts";
import type { AgentCard } from "./card.ts";
import type { ContextId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { StoredTask } from "./serial.ts";
import type { TaskState } from "./state.ts";

/** What a caller can ask, whatever the dialect it asks in. */
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
  /** Empty: none named. */
  readonly tenant: string;
}

export interface SendRequest extends Addressed {
  /** `send` answers once, `stream` with events. */
  readonly operation: "send" | "stream";
  readonly message: Message;
  /** The request's own metadata, not the message's. */
  readonly metadata: JsonObject;
  /** Media types the caller accepts; empty: any. */
  readonly outputModes: readonly string[];
  /** The last so many messages; `undefined`: as the server sees fit; 0: none. */
  readonly history: number | undefined;
  /** How many milliseconds to wait for the task to be finished or to ask its caller something: 0 or `Infinity`, mostly. */
  readonly waitMs: number;
  /** Milliseconds until the task fails, unless it has ended; sleeping and waiting for an answer count. */
  readonly timeoutMs?: number;
  readonly push?: PushConfig;
  /** The agents it has passed, to be sent along. Absent: none. */
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
  /** Milliseconds since the epoch; tasks whose status is of this time or later. */
  readonly statusSince?: number;
  readonly pageSize: number;
  /** Where the page before ended. */
  readonly before?: ListPosition;
  readonly artifacts: boolean;
  readonly history: number | undefined;
}

/** The last row of a page; lists go from new to old. */
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

/** Where and how a caller wants to be notified. */
export interface PushConfig {
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  /** How to authenticate there: the first scheme counts, the others are kept for who asks. */
  readonly authentication?: { readonly schemes: readonly [string, ...string[]]; readonly credentials?: string };
  /** Headers to send along, by their names as given. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What to be told of. Absent: everything. */
  readonly events?: readonly PushEventKind[];
}

export const PUSH_EVENT_KINDS = ["status", "artifact"] as const;
export type PushEventKind = (typeof PUSH_EVENT_KINDS)[number];

/** A push configuration as it is kept: it has an id, and its secrets are masked. */
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
  /** Absent: the latest, which is the only one where a task has one at most. */
  readonly id?: string;
}

export interface PushListRequest extends Addressed {
  readonly operation: "push-list";
  readonly taskId: TaskId;
  /** Absent: all there are. */
  readonly pageSize?: number;
  /** The id of the last one of the page before. */
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

/** What an operation answers with, unless it answers with a stream. */
export type OperationResult =
  | { readonly kind: "sent"; readonly task: StoredTask }
  | { readonly kind: "replied"; readonly message: Message }
  | { readonly kind: "task"; readonly task: StoredTask }
  | {
      readonly kind: "tasks";
      readonly tasks: readonly StoredTask[];
      readonly total: number;
      /** The size applied, not the number returned. */
      readonly pageSize: number;
      readonly next?: ListPosition;
    }
  /** `config` is absent where there is none and the dialect calls that an answer. */
  | {
      readonly kind: "push";
      readonly taskId: TaskId;
      readonly config?: KeptPushConfig;
      /** The call has set it. Absent: the call has only asked for it. */
      readonly set?: true;
    }
  /** In the order they were first set. `next`: the id after which the next page begins. */
  | {
      readonly kind: "pushes";
      readonly taskId: TaskId;
      readonly configs: readonly KeptPushConfig[];
      readonly next?: string;
    }
  | { readonly kind: "push-deleted" }
  | { readonly kind: "card"; readonly card: AgentCard };

/** Where dialects differ in behaviour and not only in spelling. */
export interface OperationPolicy {
  /** The stream of a send ends when the task asks its caller something. */
  readonly closeOnInputRequired: boolean;
  /** What subscribing to a finished task gets. */
  readonly terminalSubscribe: "error" | "snapshot";
  /** What canceling a canceled task gets. */
  readonly repeatCancel: "error" | "snapshot";
  /** What asking for an extended card gets where the agent declares none. */
  readonly undeclaredExtendedCard: "unsupported-operation" | "extended-card-not-configured";
  /** What it gets from an agent that has extended cards, but none for this caller. Default `extended-card-not-configured`. */
  readonly deniedExtendedCard?: "permission-denied";
  /** A send that names a task which is not there makes it, instead of being refused. */
  readonly namesTasks: boolean;
  /** A bare reply of the agent is given as a finished task. */
  readonly tasksOnly: boolean;
  /** A message that only refers to a waiting task, but answers its question by name, goes on with that task. */
  readonly answersByReference: boolean;
  /** False: callers do not see that a task waits for input, so a message that carries only a context begins a new task. Default: true. */
  readonly answersByContext?: false;
  readonly push: PushPolicy;
  /**
   * The artifacts of a task made in that dialect are told apart by their numbers, so that a stream which begins in the middle
   * must know those that came before. Absent: never.
   */
  numbersArtifacts?(origin: string | undefined): boolean;
}

/** Where dialects differ in what they mean by a push configuration. */
export interface PushPolicy {
  /** A task has one at most: setting another replaces it. */
  readonly single: boolean;
  /** What asking for one gets that is not there: an error, or an answer that says so. */
  readonly missing: "error" | "nothing";
  /** An id that stands for the latest configuration set without one. */
  readonly unnamedId?: string;
  /** What becomes of one whose deliveries have failed for good. */
  readonly afterFailure: "removed" | "suspended";
}
