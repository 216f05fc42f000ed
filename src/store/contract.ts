import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { GetOptions, ListPage, ListQuery, MessageTrace, Position, TaskRecord } from "./queries.ts";
import type {
  HistoryEntry,
  InboxEntry,
  InboxPost,
  LeaseClaim,
  LogEntry,
  StepRecord,
  TaskWrite,
} from "./task-operations.ts";
import type { FailedWebhooksQuery, WebhookOperation, WebhookRecord } from "./webhook-operations.ts";

export type {
  GetOptions,
  ListCursor,
  ListPage,
  ListQuery,
  MessageTrace,
  Position,
  TaskRecord,
} from "./queries.ts";
export type {
  HistoryEntry,
  InboxEntry,
  InboxPost,
  LeaseClaim,
  LogEntry,
  StepRecord,
  TaskCreate,
  TaskEnd,
  TaskHead,
  TaskWrite,
} from "./task-operations.ts";
export type {
  FailedWebhooksQuery,
  WebhookAdvance,
  WebhookClaim,
  WebhookDelete,
  WebhookDraft,
  WebhookKey,
  WebhookOperation,
  WebhookRecord,
  WebhookRevive,
  WebhookSet,
  WebhookState,
} from "./webhook-operations.ts";

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
