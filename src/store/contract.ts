import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { ClaimedTask, ClaimQuery, DueTasks, DueWebhook, NodeClaims, WaitingEntry } from "./claims.ts";
import type { ContextValue, ContextWrite } from "./context-operations.ts";
import type { JournalRecord } from "./journal-record.ts";
import type {
  GetOptions,
  KnownTask,
  ListPage,
  ListQuery,
  MessageTrace,
  OperatorPage,
  OperatorQuery,
  Position,
  TaskChange,
  TaskRecord,
} from "./queries.ts";
import type { StoreReport } from "./report.ts";
import type { StoreStatistics } from "./statistics.ts";
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

export type { ClaimedTask, ClaimQuery, DueTask, DueTasks, DueWebhook, NodeClaims, WaitingEntry } from "./claims.ts";
export type { ContextValue, ContextWrite } from "./context-operations.ts";
export type { JournalRecord } from "./journal-record.ts";
export type {
  ConsumedEntry,
  GetOptions,
  KnownTask,
  ListCursor,
  ListPage,
  ListQuery,
  MessageTrace,
  OperatorPage,
  OperatorQuery,
  Position,
  TaskChange,
  TaskRecord,
} from "./queries.ts";
export type { StoreReport } from "./report.ts";
export type { StoreStatistics } from "./statistics.ts";
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
 *
 * **What must be atomic.** Two nodes may run any two of these at the same time; the result must be that of one after the other. A store with
 * row locks gets most of this by locking the row of the task first. Rules 4, 8 and 9 need more: a unique key for task ids, for idempotent
 * messages and for commit keys, and a lock of the context, because two tasks may write one context.
 *
 * 1. A post and an end with `unlessInbox`: a message is never accepted by a task that has ended without it.
 * 2. A claim and a write with the former epoch: once the claim is applied, no write of the former holder is, and the new holder reads
 *    everything that the former one wrote.
 * 3. Two claims of one task or webhook, by operation or by `claimDue` and `claimWebhooks`: one node gets it.
 * 4. Two creates with one task id, or with one idempotent message: one creates, the other is `duplicate` or `repeated`.
 * 5. Two posts with one entry id, or with one `uniquePrefix`: one is stored, also if it is consumed meanwhile. Any number of posts: at most
 *    `maxWaiting` messages wait. Two posts with one `expectedSeq`: one is stored, the other is `changed`. A post with `expectedSeq` and a write
 *    with events: the post is stored before the write, or is `changed`.
 * 6. Two writes that continue the log at the same seq: one is applied, the other is `fenced`.
 * 7. An advance to `idle` and a write: a webhook is never `idle` while the log has events after its cursor. A set of a webhook and an end: the
 *    webhook receives the last event.
 * 8. Two context writes that expect the same version: one is applied, the other is a `conflict`. Any number of context writes: they have
 *    different versions, and together at most `maxBytes` bytes.
 * 9. Two commits with one key: one is applied, and both have its outcomes.
 */
export interface Store {
  /**
   * Applies all operations in one transaction, and resolves with one outcome per operation. Operations of one task are applied in the given
   * order; operations of different tasks in any order, so a store may sort them by task to avoid deadlocks between nodes. A refused operation
   * does not affect the others. After it resolves, every operation with the status `ok` is durable and visible to every later read on every
   * node. Rejects only if the database fails: then nothing was applied, except with the codes `lost` and `unknown`.
   *
   * `key` identifies the commit when it is repeated after `lost`. If it is the key of the last commit of its {@link CommitKey.writer} that was
   * applied, nothing is applied and the outcomes of that time are returned. A lower number belongs to a commit that arrives late, after its
   * writer has given it up and gone on: nothing is applied, and the call rejects with `lost`.
   */
  commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]>;

  /** The task with this id; `undefined` if it does not exist or is not in `options.scope`. Without a scope, any task is returned. */
  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined>;
  /** One page of the tasks of a scope, newest status first. */
  list(query: ListQuery): Promise<ListPage>;
  /** One page of the tasks of all scopes, newest status first. For operators only: no operation of the protocol may use it. */
  listAll(query: OperatorQuery): Promise<OperatorPage>;
  /**
   * Messages of a task's history, oldest first, starting at index `from` (0 is the oldest): at least one if there is any, at most about
   * `maxBytes` bytes. Used for a history that `get` or `list` left out because of `largeBytes`.
   */
  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]>;
  /** Log entries with a seq greater than `after`, oldest first: at least one if there is any, at most about `maxBytes` bytes. */
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]>;
  /** The inbox of a task in order of arrival: messages and cancel requests that no write has consumed. */
  inbox(id: TaskId): Promise<readonly InboxEntry[]>;
  /** The step records of a task, in any order. Ended tasks have none. */
  steps(id: TaskId): Promise<readonly StepRecord[]>;
  /** The journal of a task, in the order in which the keys were first written. It is deleted with the log. */
  journal(id: TaskId): Promise<readonly JournalRecord[]>;
  /** The values of a context, sorted by key: by the codes of the characters, so `B` comes before `a`. */
  contextValues(scope: Scope, contextId: ContextId): Promise<readonly ContextValue[]>;
  /** The newest stored task that was created in this scope with `TaskCreate.messageId` equal to `messageId`. */
  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined>;
  /** The webhooks of a task, in the order they were first set, including those with the state `removed`. */
  webhooks(task: TaskId): Promise<readonly WebhookRecord[]>;
  /** Suspended and removed webhooks, newest `failedAt` first; equal times by task id, then webhook id, ascending. */
  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]>;

  /** The last seq of each of these tasks, in any order. Unknown tasks are left out. */
  positions(ids: readonly TaskId[]): Promise<readonly Position[]>;
  /**
   * What was committed to these tasks after the seq that the caller knows, each as of one moment, in any order. Tasks without later events and
   * unknown tasks are left out. `messages`: how many messages of each history are searched for consumed entries, counted from the end. A node
   * calls this after a hint about tasks that others write, so it should be one round trip for all of them.
   */
  changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]>;

  /**
   * Finds tasks of the node's agents that need a node, oldest first, and claims them in the same transaction, as {@link LeaseClaim} does: not
   * ended, not leased to a living node, and either active (the process that ran them is gone), or with a `wakeAt` that has passed, or with a
   * non-empty inbox. Tasks that were created at the same time are in any order. Two nodes that call this at the same time get different tasks.
   */
  claimDue(query: ClaimQuery): Promise<DueTasks>;
  /**
   * Finds active webhooks of tasks of the node's agents that no living node has claimed, earliest `nextAt` first, whether or not that time has
   * passed, and claims them. Webhooks with the same `nextAt` are in any order.
   */
  claimWebhooks(query: ClaimQuery): Promise<readonly DueWebhook[]>;
  /**
   * Reads these tasks, in any order; unknown ones are left out. `maxBytes`: how many bytes of events of each task the caller accepts. A node calls
   * this for the tasks that it has just claimed. A store whose reads are round trips over a network should have it: without it, a node reads each
   * task with `get`, `steps`, `log` and `inbox`.
   */
  claimed?(ids: readonly TaskId[], maxBytes: number): Promise<readonly ClaimedTask[]>;
  /** The inbox entries of all tasks whose lease the node holds, in any order. One call finds the messages that other nodes have stored. */
  waitingEntries(node: string): Promise<readonly WaitingEntry[]>;
  /** What the node has claimed, in any order. A node that lost the answer to a claim, or could not renew its lease in time, compares it with what it knows. */
  claimsOf(node: string): Promise<NodeClaims>;
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
  /** Figures for operators. It must not delay commits noticeably. Absent: the server reports none of these figures. */
  statistics?(): Promise<StoreStatistics>;
  /** Figures for `palaver db status`, only when an operator asks: it may count what `statistics` does not. Absent: there are none. */
  report?(): Promise<StoreReport>;
  /** Waits for pending calls and closes the store. Later calls reject with `closed`. */
  close(): Promise<void>;
}

/** Identifies a commit of one writer. */
export interface CommitKey {
  /** The part of a process that commits. It has one commit under way at a time, and uses several names for more. Never used again by another process. */
  readonly writer: string;
  /** Rises with each commit of the writer. A repetition has the number of the commit that it repeats. */
  readonly n: number;
}

/**
 * How long finished tasks are kept. A task that has not ended is never deleted, nor is a task with an active webhook. An absent member: no
 * limit of this kind.
 */
export interface Retention {
  /**
   * The number of tasks at which creating another one first deletes the `pruneCount` oldest finished tasks. If no task can be deleted, the
   * outcome is `full`. A store may count with a delay of up to 5 seconds, and exceed it by what is created meanwhile; `sweep` corrects this.
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

/** One operation of a commit. All operations of a commit are applied in one transaction; each has an outcome of its own. */
export type StoreOperation = TaskWrite | InboxPost | LeaseClaim | ContextWrite | WebhookOperation;

/**
 * The result of one operation.
 *
 * - `ok`: applied. A post returns the `node` that holds the lease, a claim the new `epoch`, a context write the new `version`.
 * - `inbox`: applied without its last part: see `TaskWrite.end` and `WebhookAdvance.state`.
 * - `held`: not applied; a living node holds the lease or the claim.
 * - `repeated`: not applied; an earlier send of the same message created `task` (the newest, if several did).
 * - `fenced`: not applied; the epoch or the seq is not the current one, because another node has claimed the task.
 * - `conflict`: not applied; the context value has another version than expected.
 * - `changed`: not applied; the task has changed since `expectedSeq`. `seq` is that of its last event.
 * - `duplicate`, `ended`, `not-found`, `full`: not applied.
 */
export type Outcome =
  | { readonly status: "ok"; readonly node?: string; readonly epoch?: number; readonly version?: number }
  | { readonly status: "held"; readonly node: string }
  | { readonly status: "repeated"; readonly task: TaskId }
  | { readonly status: "changed"; readonly seq: number }
  | { readonly status: "inbox" | "fenced" | "conflict" | "duplicate" | "ended" | "not-found" | "full" };

/**
 * - `busy`, `full`: nothing was written; a retry may succeed.
 * - `lost`: the connection to the database broke during the call. The call may have been applied, or may still be. Repeat a commit with the
 *   same {@link CommitKey} to get its outcomes; after another call, read what the store has.
 * - `unknown`: whether the commit was written is unknown until the store is opened again. The process must stop. Only for stores that cannot
 *   find out, such as a local file whose write failed.
 * - `closed`: the store was closed.
 * - `unusable`: the store cannot be opened (corrupt, newer schema, owned by another process). The message says what to do.
 */
export type StoreErrorCode = "busy" | "full" | "lost" | "unknown" | "closed" | "unusable";

/** Every error that a store throws. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
