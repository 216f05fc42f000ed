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
  /** Answer only when the task is finished or waits for the caller. */
  readonly wait: boolean;
  readonly push?: PushConfig;
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
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

export interface PushCreateRequest extends Addressed {
  readonly operation: "push-create";
  readonly taskId: TaskId;
  readonly config: PushConfig;
}

export interface PushReadRequest extends Addressed {
  readonly operation: "push-get" | "push-delete";
  readonly taskId: TaskId;
  readonly id: string;
}

export interface PushListRequest extends Addressed {
  readonly operation: "push-list";
  readonly taskId: TaskId;
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
  | PushReadRequest
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
  | { readonly kind: "card"; readonly card: AgentCard };

/** Where dialects differ in behaviour and not only in spelling. */
export interface OperationPolicy {
  /** The stream of a send ends when the task asks its caller something. */
  readonly closeOnInputRequired: boolean;
  /** What subscribing to a finished task gets. */
  readonly terminalSubscribe: "error" | "snapshot";
  /** What canceling a canceled task gets. */
  readonly repeatCancel: "error" | "snapshot";
}
