import type { CallPath } from "../protocol/call-path.ts";
import type { Ancestry } from "../protocol/calls/ancestry.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { OperationPolicy, SendRequest } from "../protocol/operation.ts";
import type { Principal, Scope } from "../protocol/principal.ts";
import type { StoredTask } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type { ListCursor, ListQuery, WebhookDraft, WebhookRecord } from "../store/contract.ts";

/**
 * The engine as the server's operations use it. Reads return committed data only. Methods reject with an `A2AError`. A task outside the
 * caller's scope is treated as not existing.
 */
export interface Engine {
  /**
   * Accepts a message. The agent's `reply` answers it without a task; or it creates a task; or, with `message.taskId`, it is added to the inbox
   * of an existing task. Returns a promise only if something must be awaited. Throws or rejects without storing anything: `task-not-found`, `unsupported-operation` (the task has ended), `invalid-params` (a
   * context that is not the task's), `task-changed` (see `expectedSeq`), `resource-exhausted` (a limit is reached), `conflict` (see `idempotencyWindow`), `unavailable` (draining).
   */
  submit(submission: Submission): Submitted | Promise<Submitted>;
  /** The task as committed; `undefined`: not found. */
  snapshot(scope: Scope, id: TaskId, options: SnapshotOptions): Promise<StoredTask | undefined>;
  /**
   * Resolves when the task has events after the seq `after`, when it has ended or been deleted, when `limits.maxPollWait` is over, or when the
   * server shuts down; immediately if there is no such task. Rejects if the caller's signal aborts.
   */
  changed(scope: Scope, id: TaskId, wait: ChangeWait): Promise<void>;
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
  /**
   * Throws `unavailable` if the process makes no progress: for two minutes it has not polled its store, or a commit has neither succeeded nor
   * failed. A store that cannot be reached is no reason: its calls fail then, but end.
   */
  alive(): void;
}

/** The waiting caller. `signal` may be a getter that creates it: it is read only before a longer wait. */
export interface Caller {
  readonly signal: AbortSignal;
}

export interface ChangeWait {
  readonly after: number;
  readonly caller: Caller;
}

/** A message, the call that carries it, and the decisions of the server about it. */
export interface Submission {
  readonly call: SubmittingCall;
  readonly request: SubmittedRequest;
  readonly scope: Scope;
  /**
   * A message with a `contextId` and no `taskId` continues the caller's only `input-required` task of that context, unless its question may be
   * answered with the task id only. Default: the message creates a task.
   */
  readonly answersByContext?: boolean | undefined;
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

/** The members of a call that the engine reads. */
export interface SubmittingCall extends Caller {
  readonly principal: Principal;
  /** Version and binding, such as `1.0/jsonrpc`. */
  readonly dialect: string;
  readonly policy: Pick<OperationPolicy, "namesTasks" | "tasksOnly">;
  /** URIs of the requested extensions that the agent declares. */
  readonly activeExtensions: readonly string[];
  /** Where the call belongs in a distributed trace. The trace id is added to the metadata of the task's events. */
  readonly trace?: TraceContext | undefined;
  /** The agents that the message passed through. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /** The tasks that led to the message. Absent: no agent sent it. */
  readonly ancestry?: Ancestry | undefined;
}

/**
 * The members of a send that the engine reads. `message.taskId` continues that task; `message.contextId` alone creates a task in that context.
 * `timeoutMs` is used only by a message that creates a task; unlike the agent's `timeout`, there is no grace period. The message id of a
 * `stream` is stored, so that `findByMessage` finds the task when the client reconnects.
 */
export type SubmittedRequest = Pick<
  SendRequest,
  "operation" | "message" | "metadata" | "outputModes" | "timeoutMs" | "expectedSeq"
>;

export interface SubmittedWebhook {
  readonly draft: WebhookDraft;
  /** The store refuses the webhook if the task has this many others. */
  readonly maxPerTask: number;
  /** Replace all webhooks of the task that were set in the same dialect. */
  readonly only: boolean;
  /** A stored webhook of the task has the id and the content of `draft`. */
  readonly isSame: (stored: WebhookRecord) => boolean;
}

export type Submitted =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "task"; readonly ticket: Ticket };

/** An accepted message and its task: what the caller can wait for and read. */
export interface Ticket {
  readonly taskId: TaskId;
  /** The id under which the engine and the store keep the task; differs from `taskId` if the caller chose that. */
  readonly key: TaskId;
  readonly contextId: ContextId;
  /** Resolves when the message is stored. */
  stored(): Promise<void>;
  /**
   * Resolves when the task's status no longer shows the question that the message answers: the run consumed the message, or the task has ended.
   * Resolves after 1 second at the latest, and immediately for a message that answers no question.
   */
  consumed(caller: Caller): Promise<void>;
  /**
   * Resolves when the task has ended; when it is interrupted and the message was consumed or stays in the inbox for a later turn; after
   * `limits.maxWait`; or when the server shuts down.
   */
  settled(caller: Caller): Promise<void>;
  /** As `Engine.snapshot`; without a promise if the task has just ended. */
  snapshot(options: SnapshotOptions): StoredTask | undefined | Promise<StoredTask | undefined>;
  /** Opens a stream that follows the message, once it is stored. A new task is followed from its first event. */
  subscribe(options: Pick<SubscribeOptions, "largeBytes">): Promise<Subscription>;
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
  /** At the last entry, the message that the stream follows was consumed or left for a later turn. Always true if it follows none. */
  readonly answered: boolean;
}

export interface Subscription {
  /** The task for the first frame of the stream; the events after its `seq` follow. Valid until the first `next()`. */
  readonly opening: StoredTask;
  /** Events after the cursor are no longer stored: `opening` is the whole current task. */
  readonly resync: boolean;
  /** The task has ended and no events follow the cursor. */
  readonly ended: boolean;
  /** In `opening` the task is interrupted, and the message that the stream follows was consumed or left for a later turn. */
  readonly answered: boolean;
  /** The next events; `undefined` after the terminal event, when closed, and when the server shuts down. */
  next(): Promise<Batch | undefined>;
  /** As `next`, without a promise: calls back once, perhaps before it returns. Not called again before that. */
  take(reader: BatchReader): void;
  close(): void;
}

/** Receives the events of a subscription. */
export interface BatchReader {
  /** `undefined`: as with `next`. */
  arrived(batch: Batch | undefined): void;
  failed(error: unknown): void;
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
