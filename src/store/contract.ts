import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { TaskState } from "../protocol/state.ts";

/**
 * The database of the engine. Implement this interface to store tasks elsewhere; `palaver/testing` exports `storeContract`, the test cases that
 * every store must pass.
 *
 * - **Several processes (nodes)** may share a store. All conditions are therefore checked inside the store, in the transaction that writes.
 *   Nothing here relies on two calls reaching the same process.
 * - **Times** are milliseconds since 1970 of the store's own clock, which `heartbeat` returns. A store that only one process uses should read
 *   the system clock once, when it is opened, and continue with a monotonic clock: setting the system clock then moves neither leases nor
 *   `wakeAt`.
 * - **Texts** (`body`, `status`, `runner`, `value`, …) are opaque JSON without line breaks. The store returns them unchanged.
 * - **Errors**: every method rejects with a {@link StoreError}. A refused operation is not an error; it has an {@link Outcome}.
 */
export interface Store {
  /**
   * Applies all operations, in order, in one transaction, and resolves with one outcome per operation. A refused operation does not affect the
   * others. After it resolves, every operation with the status `ok` is durable and visible to every later read on every node. Rejects only if
   * the database fails: then nothing was applied, except with the code `unknown`.
   */
  commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]>;

  /** The task with this id; `undefined` if it does not exist or is not in `options.scope`. Without a scope, any task is returned. */
  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined>;
  /** One page of the tasks of a scope, newest status first. */
  list(query: ListQuery): Promise<ListPage>;
  /**
   * Messages of a task's history, oldest first, starting at index `from` (0 is the oldest): at least one if there is any, at most about
   * `maxBytes` bytes. Used for a history that `get` or `list` left out because of `largeBytes`.
   */
  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]>;
  /** Log entries with a seq greater than `after`, oldest first: at least one if there is any, at most about `maxBytes` bytes. */
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]>;
  /** The inbox of a task in order of arrival: messages and cancel requests that no write has consumed. */
  inbox(id: TaskId): Promise<readonly InboxEntry[]>;
  /** The step records of a task. Ended tasks have none. */
  steps(id: TaskId): Promise<readonly StepRecord[]>;
  /** The newest stored task that was created in this scope with `TaskCreate.messageId` equal to `messageId`. */
  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined>;
  /** The webhooks of a task, in the order they were first set, including those with the state `removed`. */
  webhooks(task: TaskId): Promise<readonly WebhookRecord[]>;
  /** Active webhooks that no living node has claimed, earliest `nextAt` first, at most `limit`. */
  unheldWebhooks(limit: number): Promise<readonly WebhookRecord[]>;
  /** Suspended and removed webhooks, newest `failedAt` first; equal times by task id, then webhook id, ascending. */
  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]>;

  /** The last seq of each of these tasks. Unknown tasks are left out. */
  positions(ids: readonly TaskId[]): Promise<readonly Position[]>;

  /**
   * Tasks that a node should claim, oldest first, at most `limit`: not ended, not leased to a living node, and either active (the process that
   * ran them is gone), or with a `wakeAt` that has passed, or with a non-empty inbox.
   */
  due(limit: number): Promise<readonly TaskId[]>;
  /** The earliest `wakeAt`, past or future, of all tasks that have not ended and are not leased to a living node. */
  nextWake(): Promise<number | undefined>;
  /**
   * Declares the node alive for `leaseMs` milliseconds from now, which renews all its leases and webhook claims. A node is living until that
   * time has passed or it calls `leave`. `now` is the store's present time.
   */
  heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }>;
  /** Releases all leases and webhook claims of the node. It is no longer living. */
  leave(node: string): Promise<void>;

  /**
   * Deletes finished tasks, and drops the events of finished tasks, that the {@link Retention} policy no longer keeps: one batch per call, small
   * enough that commits wait for it only briefly. Resolves with the number of tasks it changed; 0: nothing more is due. The engine calls it every
   * 60 seconds, then again until it resolves with 0.
   */
  sweep(): Promise<number>;
  /**
   * Rejects if the store cannot accept commits. It must make a real write, as durable as a commit and on the same path, and leave nothing behind:
   * a full disk or a read-only database must be detected. Called at most once a second.
   */
  health(): Promise<void>;
  /** Waits for pending calls and closes the store. Later calls reject with `closed`. */
  close(): Promise<void>;
}

/**
 * How long finished tasks are kept. A task that has not ended is never deleted, nor is a task with an active webhook. An absent member: no
 * limit of this kind.
 */
export interface Retention {
  /**
   * The number of tasks at which creating another one first deletes the `pruneCount` oldest finished tasks. If no task can be deleted, the
   * outcome is `full`.
   */
  readonly maxTasks?: number;
  /** Default 100. */
  readonly pruneCount?: number;
  /** Milliseconds after which a finished task is deleted. */
  readonly maxAge?: number;
  /**
   * Milliseconds after which the events of a finished task are deleted; its status, history and artifacts stay. A client that resumes the
   * stream of such a task gets the whole task.
   */
  readonly logAge?: number;
}

/** One event in the log of a task. */
export interface LogEntry {
  /** 1 for the first event of the task, without gaps. */
  readonly seq: number;
  /** The event. */
  readonly body: string;
  /** Data that the engine needs to replay a run. Never shown to callers. */
  readonly note?: string;
}

/** One message in the history of a task. */
export interface HistoryEntry {
  /** The seq of the event that the message follows. Never less than that of the message before. */
  readonly after: number;
  /** The message. */
  readonly body: string;
  /** Id of the message's inbox entry. Absent for the task's first message and for messages of the agent. */
  readonly inbox?: string;
}

/** A message or a cancel request that the task's run has not consumed yet. */
export interface InboxEntry {
  /** Unique among the waiting entries of the task. */
  readonly id: string;
  readonly kind: "message" | "cancel";
  readonly body: string;
  /** The body is encrypted and must not become part of the history. */
  readonly sealed: boolean;
  /** Time of arrival. */
  readonly at: number;
}

/** The stored result of a step, a question, an answer or a sleep, for the replay of a run. */
export interface StepRecord {
  /** Unique within the task. A record with the same key replaces the earlier one. */
  readonly key: string;
  readonly value: string;
}

/** The part of a task that changes with its status or its runner, but not with its artifacts. */
export interface TaskHead {
  readonly state: TaskState;
  readonly status: string;
  /** When the status was set. Lists are sorted by it. */
  readonly statusAt: number;
  readonly metadata?: string;
  /** The engine's data about the run. */
  readonly runner: string;
  /** A node must run the task. False while it waits for a message or a time, and after its end. */
  readonly active: boolean;
  /** When the task becomes due without a message. Absent: never. */
  readonly wakeAt?: number;
}

/** The constant part of a new task. */
export interface TaskCreate {
  readonly contextId: ContextId;
  /** The caller sent the context id, so other tasks may have the same. */
  readonly contextShared: boolean;
  readonly scope: Scope;
  /** Dialect (version and binding) of the call that created the task, such as `1.0/jsonrpc`. */
  readonly dialect: string;
  /** Time of creation. */
  readonly at: number;
  /** The node that gets the lease, with epoch 1. */
  readonly node: string;
  /** Id of the first message, to be found by `findByMessage`. */
  readonly messageId?: string;
  /**
   * Makes the create idempotent; ignored without `messageId`. If this scope created a task with the same `messageId` at the time `since` or
   * later, nothing is applied and the outcome is `repeated`. `digest` is stored and returned by `findByMessage`; the store does not compare it.
   */
  readonly idempotency?: { readonly since: number; readonly digest: string };
  /** A webhook that receives the events from the first one on. */
  readonly webhook?: WebhookDraft;
}

/**
 * A write by the node that holds the task's lease. It is applied as a whole or not at all, with one exception: see `end`.
 *
 * Outcomes besides `ok`: `fenced` (nothing applied), `not-found`, `ended`, `inbox` (see `end`); for a `create` also `repeated`, `duplicate` and
 * `full`, checked in this order.
 */
export interface TaskWrite {
  readonly kind: "write";
  readonly task: TaskId;
  /** Must equal the epoch of the current lease, else the outcome is `fenced`; also `fenced` while no node holds the lease. */
  readonly epoch: number;
  /**
   * Creates the task first. Needs `epoch` 1 and a `head` or an `end`. The outcome is `duplicate` if a task with this id exists, `full` if the store
   * has reached `maxTasks` and no task can be deleted.
   */
  readonly create?: TaskCreate;
  /** Must continue the log without a gap, else the outcome is `fenced`. */
  readonly entries: readonly LogEntry[];
  /** Replaces the head. Absent: the head stays as it is (a write of artifact chunks only). */
  readonly head?: TaskHead;
  /** Appended to the history. */
  readonly history: readonly HistoryEntry[];
  /** Ids of inbox entries that this write consumes. Unknown ids are ignored. */
  readonly taken: readonly string[];
  /** Added to the step records. */
  readonly steps: readonly StepRecord[];
  /** Deletes all step records before `steps` is added. */
  readonly forgetSteps: boolean;
  /**
   * Ends the task, releases the lease and deletes the step records. With `unlessInbox`, and a message in the inbox after `taken` was applied, the
   * rest of the write is applied without this end: the outcome is `inbox`.
   */
  readonly end?: TaskEnd;
  /** Releases the lease. */
  readonly release: boolean;
}

/** The end of a task. Messages that are still in the inbox are appended to the history first; sealed messages are deleted. */
export interface TaskEnd {
  /** The last event. Its seq follows that of the last of `entries`. */
  readonly entry: LogEntry;
  readonly head: TaskHead;
  readonly history: readonly HistoryEntry[];
  readonly unlessInbox: boolean;
  /** All artifacts as a JSON array, if the writer had them in memory. Absent: the store or a reader computes them from the log. */
  readonly artifacts?: string;
}

/**
 * Adds an entry to a task's inbox, whichever node holds the lease. Outcomes: `ok` with the node that holds the lease, `duplicate` while an entry
 * with this id waits, `full`, `ended`, `not-found`.
 */
export interface InboxPost {
  readonly kind: "post";
  readonly task: TaskId;
  readonly entry: InboxEntry;
  /** The outcome is `full` if this many messages wait. Cancel requests are always accepted. */
  readonly maxWaiting: number;
}

/**
 * Claims the lease of a task if no living node holds it. The epoch rises by 1, so that writes of the former holder are fenced. Outcomes: `ok` with
 * the new epoch, `held`, `ended`, `not-found`.
 */
export interface LeaseClaim {
  readonly kind: "claim";
  readonly task: TaskId;
  readonly node: string;
  /** Claim the lease even if a living node holds it. */
  readonly force: boolean;
}

/**
 * `active`: events are, or will be, waiting for delivery. `idle`: the task has ended and everything was delivered. `suspended`: delivery failed for
 * good, until the webhook is set again or revived. `removed`: as `suspended`, and callers no longer see the webhook.
 */
export type WebhookState = "active" | "idle" | "suspended" | "removed";

/** A webhook as its caller sets it. It receives the events of the task after its cursor. */
export interface WebhookDraft {
  /** Unique within the task. Setting a webhook with the same id replaces it. */
  readonly id: string;
  /** Dialect in which it was set. */
  readonly dialect: string;
  /** Target and options, opaque and encrypted. */
  readonly body: string;
  /** The caller gave no id; the server created it. */
  readonly unnamed: boolean;
  /** When it was set. */
  readonly at: number;
}

/** A stored webhook. */
export interface WebhookRecord extends WebhookDraft {
  readonly task: TaskId;
  readonly state: WebhookState;
  /** The last seq that was delivered or skipped. */
  readonly cursor: number;
  /** Failed attempts to deliver the next notification. */
  readonly attempts: number;
  /** When the next attempt is due. */
  readonly nextAt: number;
  /** Why delivery failed for good. */
  readonly failure?: string;
  /** When delivery failed for good. */
  readonly failedAt?: number;
  /**
   * Rises each time the webhook is set, claimed or revived. An `advance` with an earlier epoch is fenced. An epoch is never used twice for the
   * same task and id, even if the webhook was deleted in between.
   */
  readonly epoch: number;
  /** The node that claimed it, living or not. */
  readonly node?: string;
}

export interface FailedWebhooksQuery {
  readonly limit: number;
  /** Only webhooks of this task. */
  readonly task?: TaskId;
  /** Only webhooks with an earlier `failedAt`. */
  readonly before?: number;
  /** With `before`: also webhooks with exactly that `failedAt` that come after this one. Pass the last webhook of a page to get the next page. */
  readonly beyond?: WebhookKey;
}

/** Identifies a webhook. */
export interface WebhookKey {
  readonly task: TaskId;
  readonly id: string;
}

/**
 * Sets a webhook of a running or an ended task and makes it active, with 0 attempts, no claim and a new epoch.
 *
 * Its cursor is the smallest cursor of the webhooks that it replaces (by id, or by `only`) and that were active or suspended, so that pending
 * events are delivered to the new target. If it replaces none, the cursor is the task's present seq; for an ended task, one less, so that it
 * receives the last event.
 *
 * Outcomes: `ok`; `not-found`, also if the task is not in `scope`; `full` if the webhook is new and the task has `maxPerTask` others that are not
 * removed. At most `maxPerTask` removed webhooks are kept; the oldest are deleted.
 */
export interface WebhookSet {
  readonly kind: "webhook-set";
  readonly task: TaskId;
  readonly scope: Scope;
  readonly webhook: WebhookDraft;
  readonly maxPerTask: number;
  /** Replaces all webhooks of the task that were set in the same dialect, except removed ones. */
  readonly only: boolean;
}

/** Deletes a webhook. Outcomes: `ok`, `not-found`. */
export interface WebhookDelete {
  readonly kind: "webhook-delete";
  readonly task: TaskId;
  readonly id: string;
}

/** Claims an active webhook if no living node has it. Outcomes: `ok` with the new epoch, `held`, `not-found` (also if it is not active). */
export interface WebhookClaim {
  readonly kind: "webhook-claim";
  readonly task: TaskId;
  readonly id: string;
  readonly node: string;
}

/** Stores the progress of a delivery. Outcomes: `ok`, `not-found`, `inbox` (see `state`), `fenced` if it is not active or has another epoch. */
export interface WebhookAdvance {
  readonly kind: "webhook-advance";
  readonly task: TaskId;
  readonly id: string;
  readonly epoch: number;
  readonly cursor: number;
  readonly attempts: number;
  readonly nextAt: number;
  /**
   * Any state but `active` releases the claim. `idle` is refused while the task has not ended or its log has events after `cursor`: everything else
   * is applied, the webhook stays active and claimed, and the outcome is `inbox`.
   */
  readonly state: WebhookState;
  readonly failure?: string;
  /** For the states `suspended` and `removed`. Default: `nextAt`. */
  readonly failedAt?: number;
}

/**
 * Makes a suspended or removed webhook active again: same cursor, 0 attempts, `nextAt` is `at`. Outcomes: `ok`, `not-found` (also in any other
 * state).
 */
export interface WebhookRevive {
  readonly kind: "webhook-revive";
  readonly task: TaskId;
  readonly id: string;
  readonly at: number;
}

export type WebhookOperation = WebhookSet | WebhookDelete | WebhookClaim | WebhookAdvance | WebhookRevive;

export type StoreOperation = TaskWrite | InboxPost | LeaseClaim | WebhookOperation;

/**
 * The result of one operation.
 *
 * - `ok`: applied. A post returns the `node` that holds the lease, a claim the new `epoch`.
 * - `inbox`: applied without its last part: see `TaskWrite.end` and `WebhookAdvance.state`.
 * - `held`: not applied; a living node holds the lease or the claim.
 * - `repeated`: not applied; an earlier send of the same message created `task` (the newest, if several did).
 * - `fenced`: not applied; the epoch or the seq is not the current one, because another node has claimed the task.
 * - `duplicate`, `ended`, `not-found`, `full`: not applied.
 */
export type Outcome =
  | { readonly status: "ok"; readonly node?: string; readonly epoch?: number }
  | { readonly status: "held"; readonly node: string }
  | { readonly status: "repeated"; readonly task: TaskId }
  | { readonly status: "inbox" | "fenced" | "duplicate" | "ended" | "not-found" | "full" };

/** The task that a message created. */
export interface MessageTrace {
  readonly task: TaskId;
  readonly createdAt: number;
  /** `TaskCreate.idempotency.digest`. Absent if the task was created without idempotency. */
  readonly digest?: string;
}

export interface GetOptions {
  /** Return the task only if it is in this scope. */
  readonly scope?: Scope;
  /** Include the artifacts. */
  readonly artifacts: boolean;
  /** How many messages to return, counted from the end; `undefined`: all. */
  readonly history?: number | undefined;
  /** Only messages whose `after` is at most this seq. */
  readonly upTo?: number;
  /**
   * Artifacts or a history with more bytes than this are left out of the record, so that no call reads a large task at once: see `artifacts` and
   * `largeHistory` of {@link TaskRecord}. Absent: nothing is left out.
   */
  readonly largeBytes?: number | undefined;
}

/** A stored task. */
export interface TaskRecord {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly scope: Scope;
  /** Dialect of the call that created the task. */
  readonly dialect: string;
  readonly createdAt: number;
  readonly head: TaskHead;
  /** The last seq of the log; 0: the log is empty. */
  readonly seq: number;
  /**
   * Seq of the first stored event: 1 while all are stored, `seq + 1` if none is. It never falls. Only this member, or a log page that begins later
   * than requested, says that events were deleted; after an empty page a new event may still follow.
   */
  readonly firstSeq: number;
  readonly epoch: number;
  /** The node that holds the lease, living or not. */
  readonly node?: string;
  /** Oldest first. */
  readonly history: readonly HistoryEntry[];
  /** Present if the history has more than `largeBytes` bytes; `history` is then empty. `Store.history` returns the messages from index `from` up to, not including, `to`. */
  readonly largeHistory?: { readonly from: number; readonly to: number };
  /**
   * All artifacts as a JSON array, if requested and stored. Left out if they have more than `largeBytes` bytes and the whole log is stored. If absent,
   * compute them from the log.
   */
  readonly artifacts?: string;
}

export interface ListQuery {
  readonly scope: Scope;
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Only tasks whose `statusAt` is this time or later. */
  readonly statusSince?: number;
  readonly limit: number;
  /** Continue after this cursor: `ListPage.next` of the page before. */
  readonly before?: ListCursor;
  /** Include the artifacts. */
  readonly artifacts: boolean;
  /** As in {@link GetOptions}. */
  readonly history?: number | undefined;
  /** As in {@link GetOptions}, for each record. */
  readonly largeBytes?: number | undefined;
  /**
   * The page ends before the task that would exceed this number of bytes, but has at least one task. Everything that was requested counts, even if
   * `largeBytes` leaves it out. Absent: no limit.
   */
  readonly maxBytes?: number | undefined;
}

/** Position in a list: `statusAt` and id of the last task of a page. */
export interface ListCursor {
  readonly at: number;
  readonly id: string;
}

export interface ListPage {
  /** Newest `statusAt` first; equal times by id, descending. */
  readonly tasks: readonly TaskRecord[];
  /** How many tasks match the query, on all pages. */
  readonly total: number;
  /** Absent on the last page. */
  readonly next?: ListCursor;
}

export interface Position {
  readonly id: TaskId;
  /** The last seq of the log. */
  readonly seq: number;
  readonly ended: boolean;
}

/**
 * - `busy`, `full`: nothing was written; a retry may succeed.
 * - `unknown`: whether the commit was written is unknown until the store is opened again. The process must stop.
 * - `closed`: the store was closed.
 * - `unusable`: the store cannot be opened (corrupt, newer schema, owned by another process). The message says what to do.
 */
export type StoreErrorCode = "busy" | "full" | "unknown" | "closed" | "unusable";

/** Every error that a store throws. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
