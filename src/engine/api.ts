import type { CallPath } from "../protocol/call-path.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { Principal, Scope } from "../protocol/principal.ts";
import type { StoredTask } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type { ListCursor, ListQuery, WebhookDraft } from "../store/contract.ts";

/**
 * The engine as the server's operations use it. Reads return committed data only. Methods reject with an `A2AError`. A task outside the
 * caller's scope is treated as not existing.
 */
export interface Engine {
  /**
   * Accepts a message. The agent's `reply` answers it without a task; or it creates a task; or, with `message.taskId`, it is added to the inbox
   * of an existing task. Rejects without storing anything: `task-not-found`, `unsupported-operation` (the task has ended), `invalid-params` (a
   * context that is not the task's), `resource-exhausted` (a limit is reached), `conflict` (see `idempotencyWindow`), `unavailable` (draining).
   */
  submit(submission: Submission): Promise<Submitted>;
  /** Resolves when the submitted message is stored. */
  accepted(ticket: Ticket): Promise<void>;
  /**
   * Resolves when the task's status no longer shows the question that the submitted message answers: the run consumed the message, or the task
   * has ended. Resolves after 1 second at the latest, and immediately for a message that answers no question.
   */
  consumed(ticket: Ticket, caller: Caller): Promise<void>;
  /**
   * Resolves when the task has ended; when it is interrupted and the ticket's message was consumed or stays in the inbox for a later turn; after
   * `limits.maxWait`; or when the server shuts down.
   */
  settled(ticket: Ticket, caller: Caller): Promise<void>;
  /** The task as committed; `undefined`: not found. */
  snapshot(scope: Scope, id: TaskId, options: SnapshotOptions): Promise<StoredTask | undefined>;
  list(query: ListQuery): Promise<TaskPage>;
  /** Aborts the run and resolves when the task has ended. */
  cancel(scope: Scope, id: TaskId): Promise<CancelResult>;
  /** Opens a stream of the task's events; `undefined`: not found. Rejects with `invalid-params` if `after` is beyond the log. */
  subscribe(scope: Scope, id: TaskId, options: SubscribeOptions): Promise<Subscription | undefined>;
  /** The ticket of the task that a streaming or idempotent send of this scope with this message id created. */
  findByMessage(scope: Scope, messageId: string): Promise<Ticket | undefined>;
  /** The ticket of the task with this id. */
  find(scope: Scope, id: TaskId): Promise<Ticket | undefined>;
  /** Rejects with `unavailable` and the reason while the engine cannot accept messages. */
  ready(): Promise<void>;
}

/** The waiting caller. `signal` may be a getter that creates it: it is read only before a longer wait. */
export interface Caller {
  readonly signal: AbortSignal;
}

export interface Submission extends Caller {
  readonly scope: Scope;
  readonly caller: Principal;
  readonly dialect: string;
  /** `taskId` continues that task; `contextId` alone creates a task in that context. */
  readonly message: Message;
  /** If no task with `message.taskId` exists, create one with that id (A2A 0.1) instead of rejecting with `task-not-found`. */
  readonly namesTask?: boolean | undefined;
  /**
   * A message with a `contextId` and no `taskId` continues the caller's only `input-required` task of that context, unless its question may be
   * answered with the task id only. Default: the message creates a task.
   */
  readonly answersByContext?: boolean | undefined;
  /** The caller's dialect has no bare messages: the agent's `reply` becomes a completed task. */
  readonly tasksOnly?: boolean | undefined;
  /**
   * Milliseconds until the task fails, unless it has ended. Unlike the agent's `timeout`, time spent sleeping or waiting for an answer counts, and
   * there is no grace period. Used only by a message that creates a task.
   */
  readonly timeoutMs?: number | undefined;
  /** The request's W3C `traceparent` header, unparsed. Its trace id is added to the metadata of the task's events. */
  readonly traceparent?: string | undefined;
  /** The agents that the message passed through. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /** The metadata of the request, not of the message. */
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  /** URIs of the active extensions. */
  readonly extensions: readonly string[];
  /** Store the message id, so that `findByMessage` finds the task when the client reconnects. */
  readonly streaming: boolean;
  /** Stored together with the message. */
  readonly webhook?: SubmittedWebhook | undefined;
  /**
   * Idempotency window in milliseconds. A repeated message of the same caller gets the task that the earlier message created; another message
   * with the same id is refused as `conflict`. Absent: no idempotency, every message is processed.
   */
  readonly idempotencyWindow?: number | undefined;
  /** Throws if the caller may not use the skill. Called when the skill is known, before anything is stored. */
  readonly admitSkill?: ((skill: string) => void) | undefined;
}

export interface SubmittedWebhook {
  readonly draft: WebhookDraft;
  /** The store refuses the webhook if the task has this many others. */
  readonly maxPerTask: number;
  /** Replace all webhooks of the task that were set in the same dialect. */
  readonly only: boolean;
}

export type Submitted =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "task"; readonly ticket: Ticket };

/** Identifies an accepted message and its task. */
export interface Ticket {
  readonly taskId: TaskId;
  /** The id under which the engine and the store keep the task; differs from `taskId` if the caller chose that. */
  readonly key: TaskId;
  readonly contextId: ContextId;
  /** Id of the message's inbox entry. Absent: the message created the task. */
  readonly inbox?: string;
  /** Seq of the last question that was visible when the message was accepted: the message does not answer later questions. Default 0. */
  readonly asked?: number;
  /** The request ids of the open questions that the message answers. */
  readonly answers?: readonly string[];
}

export interface SnapshotOptions {
  readonly artifacts: boolean;
  /** How many messages to return, counted from the end; `undefined`: all; 0: no `history` member. */
  readonly history?: number | undefined;
  /** Add every past status of the task to its metadata. */
  readonly stateHistory?: boolean;
  /** Artifacts or a history with more bytes than this are returned in pieces (`large`). Absent: always as one text. */
  readonly largeBytes?: number | undefined;
}

export interface TaskPage {
  readonly tasks: readonly StoredTask[];
  readonly total: number;
  readonly next?: ListCursor;
}

/** `repeated`: the task was already canceled. `too-late`: the task ended in another state, before or during the cancel. */
export type CancelResult = "canceled" | "repeated" | "too-late" | "not-found";

export interface SubscribeOptions {
  /** Send the events after this seq. Absent: the events from now on. */
  readonly after?: number;
  /** Follow this message; a new task is followed from its first event. */
  readonly ticket?: Ticket;
  /** As in {@link SnapshotOptions}, for `opening`. */
  readonly largeBytes?: number | undefined;
}

/** One committed event as text, with the fields that a stream needs. */
export interface ViewEntry {
  readonly seq: number;
  /** The event in its stored form; `readEvent` parses it. */
  readonly body: string;
  /** Present on status events. */
  readonly state?: TaskState;
  /**
   * Cache of the encoded event, one text per codec key. All subscribers share it, so that each codec encodes the event once. Absent if there is
   * one subscriber.
   */
  readonly encoded?: EncodedTexts | undefined;
}

export interface EncodedTexts {
  get(key: string): string | undefined;
  set(key: string, text: string): void;
}

export interface Batch {
  /** At least one. An interrupted or terminal status is always the last entry of its batch. */
  readonly entries: readonly ViewEntry[];
  /** At the last entry, the ticket's message was consumed or left for a later turn. Always true without a ticket. */
  readonly answered: boolean;
}

export interface Subscription {
  /** The task for the first frame of the stream; the events after its `seq` follow. Valid until the first `next()`. */
  readonly opening: StoredTask;
  /** Events after the cursor are no longer stored: `opening` is the whole current task. */
  readonly resync: boolean;
  /** The task has ended and no events follow the cursor. */
  readonly ended: boolean;
  /** In `opening` the task is interrupted, and the ticket's message was consumed or left for a later turn. */
  readonly answered: boolean;
  /** The next events; `undefined` after the terminal event, when closed, and when the server shuts down. */
  next(): Promise<Batch | undefined>;
  close(): void;
}

/** Hooks of the hosting application. */
export interface EngineHooks {
  readonly on?: {
    /** Called after the commit of each event. An error it throws is logged and ignored. */
    event?(event: TaskEvent & { readonly seq: number }, task: TaskRef): void | Promise<void>;
    /** Called for each error of the author's functions. `task` is absent if no task exists yet. */
    error?(error: unknown, task: TaskRef | undefined): void | Promise<void>;
  };
  /** Changes an event before it is stored. Synchronous. It must not change states, ids, times or roles: then the task fails. */
  transform?(event: TaskEvent, task: TaskRef): TaskEvent;
}

export interface TaskRef {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly scope: Scope;
  /** Dialect (version and binding) of the call that created the task, such as `1.0/jsonrpc`. */
  readonly dialect: string;
}
