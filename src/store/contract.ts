import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { TaskState } from "../protocol/state.ts";

/**
 * What the engine needs of a database. Everything is asynchronous and conditional inside the store, so that several
 * processes may share one store: nothing here relies on two calls seeing the same process.
 *
 * All times are milliseconds of the store's own clock (`heartbeat` tells it). A store that only one process uses reads the system's clock once,
 * when it is opened, and counts on monotonically: setting the system's clock then moves neither leases nor `wakeAt`. All JSON texts are opaque to the store and
 * hold no line breaks.
 */
export interface Store {
  /**
   * Applies every operation, in order, in one transaction, and says for each what came of it. One operation refused
   * never affects another; only a failing database rejects, with a {@link StoreError}.
   * When it resolves, what is `ok` is durable and every later read sees it.
   */
  commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]>;

  /** With a scope: the task, if it lies within; without: whatever scope it has (for the engine's own work). */
  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined>;
  list(query: ListQuery): Promise<ListPage>;
  /**
   * Messages of a task's history, oldest first, from the one at this index (counted from 0) on: at least one if there is any,
   * at most about `maxBytes`. For a history that `get` or `list` left out because it is large.
   */
  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]>;
  /** Entries after `after`, oldest first, at least one if there is any, at most about `maxBytes`. */
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]>;
  /** Messages not taken yet, in order of arrival; cancels included. */
  inbox(id: TaskId): Promise<readonly InboxEntry[]>;
  steps(id: TaskId): Promise<readonly StepRecord[]>;
  /** The latest task that this scope's message of this id made, if the id was to be remembered and the task is still kept. */
  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined>;
  /** The webhooks of a task in the order they were first set, removed ones included. */
  webhooks(task: TaskId): Promise<readonly WebhookRecord[]>;
  /** Webhooks somebody should see to: active, and held by no living node. Earliest `nextAt` first. */
  unheldWebhooks(limit: number): Promise<readonly WebhookRecord[]>;
  /** Webhooks that were given up, newest failure first, ties by task and id. */
  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]>;

  /** How far the logs of these tasks have come. Unknown tasks are left out. */
  positions(ids: readonly TaskId[]): Promise<readonly Position[]>;

  /**
   * Tasks somebody should take up: not ended, not leased to a living node, and either active (their runner is gone), or
   * due by `wakeAt`, or with something in the inbox. Oldest first.
   */
  due(limit: number): Promise<readonly TaskId[]>;
  /** The earliest `wakeAt` of a task that no living node holds; what `due` would return at that time. */
  nextWake(): Promise<number | undefined>;
  /** Renews this node's lease on all it holds, for `leaseMs` from now. */
  heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }>;
  /** Gives up the node and every lease it still holds, at once. */
  leave(node: string): Promise<void>;

  /**
   * Deletes finished tasks, and drops the events of finished tasks, that the {@link Retention} policy no longer keeps: one batch per call, small
   * enough that commits wait for it only briefly. Resolves with the number of tasks it changed; 0: nothing more is due. The engine calls it every
   * 60 seconds, then again until it resolves with 0.
   */
  sweep(): Promise<number>;
  /**
   * Rejects if the store cannot serve. It makes a real write, through whatever commits go through and as durable as they are, and leaves
   * nothing behind: a full disk or a database that only reads must show. Asked at most once a second.
   */
  health(): Promise<void>;
  close(): Promise<void>;
}

/** How long finished tasks are kept. An active task is never deleted, nor one with an active webhook. Absent: for ever. */
export interface Retention {
  /** Over this many tasks, the `pruneCount` oldest finished ones go; if none is finished, new tasks are refused (`full`). */
  readonly maxTasks?: number;
  readonly pruneCount?: number;
  /** Finished tasks older than this many ms go. */
  readonly maxAge?: number;
  /** The events (not the result) of tasks finished longer ago than this many ms go; resuming them gets the whole task instead. */
  readonly logAge?: number;
}

/** One event of a task's log, as text. */
export interface LogEntry {
  /** Contiguous from 1. */
  readonly seq: number;
  /** The event in its stored spelling. */
  readonly body: string;
  /** What the engine must know of it for replay; never shown to readers. */
  readonly note?: string;
}

export interface HistoryEntry {
  /** The seq this message follows. Never less than that of the message before it. */
  readonly after: number;
  readonly body: string;
  /** The inbox entry it arrived as. Absent for the first message and for the agent's own. */
  readonly inbox?: string;
}

export interface InboxEntry {
  readonly id: string;
  readonly kind: "message" | "cancel";
  readonly body: string;
  /** The body is encrypted and must never reach the history. */
  readonly sealed: boolean;
  readonly at: number;
}

/** What a finished step, an asked or answered question, or a begun sleep left behind. */
export interface StepRecord {
  readonly key: string;
  readonly value: string;
}

/** The part of a task that changes with its status or its runner, and not with its artifacts. */
export interface TaskHead {
  readonly state: TaskState;
  readonly status: string;
  /** When the status was set. Lists are ordered by it. */
  readonly statusAt: number;
  readonly metadata?: string;
  /** The engine's own bookkeeping of the run. */
  readonly runner: string;
  /** Somebody must be at work on it. False while it waits for a message or a time, and at the end. */
  readonly active: boolean;
  /** When to take it up again without a message; absent: never. */
  readonly wakeAt?: number;
}

export interface TaskCreate {
  readonly contextId: ContextId;
  /** The caller named the context, so that other tasks may be in it. */
  readonly contextShared: boolean;
  readonly scope: Scope;
  /** The dialect of the call that made it. */
  readonly dialect: string;
  readonly at: number;
  /** The node that gets the lease, at epoch 1. */
  readonly node: string;
  /** Remember the first message's id, for `findByMessage`. */
  readonly messageId?: string;
  /**
   * A send that is to count once: where this scope made a task by the same `messageId` at this time or later, nothing is applied and the
   * outcome is `repeated`. `digest` is kept to tell a repetition from another message of the same id. Means nothing without `messageId`.
   */
  readonly idempotency?: { readonly since: number; readonly digest: string };
  /** Told of everything from the first event on. */
  readonly webhook?: WebhookDraft;
}

/** What the holder of a task's lease writes. Applied as a whole or, where the outcome says so, not at all. */
export interface TaskWrite {
  readonly kind: "write";
  readonly task: TaskId;
  /** Must be the epoch of the current lease, else `fenced`; so is everything while nobody holds it. */
  readonly epoch: number;
  /** Makes the task first; `duplicate` if there is one of that id, `full` if the store may hold no more. */
  readonly create?: TaskCreate;
  /** Must go on where the log ends, else `fenced`. */
  readonly entries: readonly LogEntry[];
  /** Absent: the status and the runner's bookkeeping stay as they are (artifact chunks only). */
  readonly head?: TaskHead;
  readonly history: readonly HistoryEntry[];
  /** Inbox entries this write consumes. */
  readonly taken: readonly string[];
  readonly steps: readonly StepRecord[];
  /** Drops all steps kept so far, before adding `steps`. */
  readonly forgetSteps: boolean;
  /** Ends the task, gives the lease back and drops all steps. With `unlessInbox`, and a message in the inbox, everything but this is applied: outcome `inbox`. */
  readonly end?: TaskEnd;
  /** Gives the lease back. */
  readonly release: boolean;
}

export interface TaskEnd {
  readonly entry: LogEntry;
  readonly head: TaskHead;
  readonly history: readonly HistoryEntry[];
  readonly unlessInbox: boolean;
  /** The folded artifacts as a JSON array, where the writer still had them all; otherwise the store or its readers fold. */
  readonly artifacts?: string;
}

/** Leaves something in a task's inbox, whoever holds its lease; `duplicate` while one of that id waits. Messages still there at the end of a task join its history (sealed ones vanish). */
export interface InboxPost {
  readonly kind: "post";
  readonly task: TaskId;
  readonly entry: InboxEntry;
  /** Refused as `full` when this many messages wait already. Cancels are always taken. */
  readonly maxWaiting: number;
}

/** Takes the lease, if nobody living holds it; with `force`, also from the living. The epoch rises by one. */
export interface LeaseClaim {
  readonly kind: "claim";
  readonly task: TaskId;
  readonly node: string;
  readonly force: boolean;
}

/**
 * `active`: there is, or will be, something to tell. `idle`: the task has ended and everything was told. `suspended`: given up until it
 * is set again or redelivered. `removed`: given up and, for its caller, no longer there.
 */
export type WebhookState = "active" | "idle" | "suspended" | "removed";

/** Somebody to be told of a task's events. What is still to be told is what the log holds after its cursor. */
export interface WebhookDraft {
  /** Unique within the task; setting it again replaces what was there and makes it active. */
  readonly id: string;
  /** The dialect it was set in. */
  readonly dialect: string;
  /** Where and how to tell, opaque and sealed. */
  readonly body: string;
  /** Its caller gave it no id. */
  readonly unnamed: boolean;
  readonly at: number;
}

export interface WebhookRecord extends WebhookDraft {
  readonly task: TaskId;
  readonly state: WebhookState;
  /** The last seq that was told, or passed over. */
  readonly cursor: number;
  /** Tries so far of what comes next. */
  readonly attempts: number;
  /** When the next try is due. */
  readonly nextAt: number;
  /** Why it was given up, opaque. */
  readonly failure?: string;
  /** When it was given up. */
  readonly failedAt?: number;
  /**
   * Rises each time it is set, claimed or revived: who knows an earlier one has nothing to say any more. Never twice the same for one
   * task and id, even if it was deleted in between.
   */
  readonly epoch: number;
  readonly node?: string;
}

export interface FailedWebhooksQuery {
  readonly limit: number;
  /** Only those of this task. */
  readonly task?: TaskId;
  /** Only those that failed before this time. */
  readonly before?: number;
  /** With `before`: also those that failed at that very time and come after this one. The last of a page, to get the next. */
  readonly beyond?: WebhookKey;
}

/** The name of a webhook. */
export interface WebhookKey {
  readonly task: TaskId;
  readonly id: string;
}

/**
 * Sets a webhook, also of a task that has ended. It is told of what comes after the task's present seq; of a task that has ended it is told
 * the last event. One that was active or suspended, or that takes the place of such, goes on from the earliest cursor, so that what is pending
 * reaches the new address; who had claimed it has it no longer. `not-found`, also outside the scope; `full` where the task has as many others already that were not removed. Of those
 * that were, as many are kept, and the oldest go.
 */
export interface WebhookSet {
  readonly kind: "webhook-set";
  readonly task: TaskId;
  readonly scope: Scope;
  readonly webhook: WebhookDraft;
  readonly maxPerTask: number;
  /** All others of the task go that were set in the same dialect, but for removed ones: it has one. */
  readonly only: boolean;
}

/** Forgets a webhook; `not-found` if there is none of that id. */
export interface WebhookDelete {
  readonly kind: "webhook-delete";
  readonly task: TaskId;
  readonly id: string;
}

/** Takes an active webhook under one's care, if nobody living has it; the outcome says its new epoch. `not-found` unless it is active. */
export interface WebhookClaim {
  readonly kind: "webhook-claim";
  readonly task: TaskId;
  readonly id: string;
  readonly node: string;
}

/** Notes how far a webhook has been told. `fenced` unless it is active and the epoch is the present one. */
export interface WebhookAdvance {
  readonly kind: "webhook-advance";
  readonly task: TaskId;
  readonly id: string;
  readonly epoch: number;
  readonly cursor: number;
  readonly attempts: number;
  readonly nextAt: number;
  /**
   * Other than `active` it also gives up the claim. While the log holds more than the cursor, or the task goes on, everything but `idle`
   * is applied, and it stays active and claimed: outcome `inbox`.
   */
  readonly state: WebhookState;
  readonly failure?: string;
  /** Where it is given up, and this is absent: `nextAt`. */
  readonly failedAt?: number;
}

/** Makes a webhook that was given up active again, from its cursor on, with all its tries before it; `not-found` if it was not given up. */
export interface WebhookRevive {
  readonly kind: "webhook-revive";
  readonly task: TaskId;
  readonly id: string;
  readonly at: number;
}

export type WebhookOperation = WebhookSet | WebhookDelete | WebhookClaim | WebhookAdvance | WebhookRevive;

export type StoreOperation = TaskWrite | InboxPost | LeaseClaim | WebhookOperation;

/**
 * `ok`: applied (a post says who holds the lease, a claim says its new epoch). `inbox`: applied but for the end.
 * `held`: a living node has the lease. `repeated`: this task, the latest if there are several, was made by the same message before.
 * The others: nothing was applied.
 */
export type Outcome =
  | { readonly status: "ok"; readonly node?: string; readonly epoch?: number }
  | { readonly status: "held"; readonly node: string }
  | { readonly status: "repeated"; readonly task: TaskId }
  | { readonly status: "inbox" | "fenced" | "duplicate" | "ended" | "not-found" | "full" };

/** What a message left behind. */
export interface MessageTrace {
  readonly task: TaskId;
  readonly createdAt: number;
  readonly digest?: string;
}

export interface GetOptions {
  readonly scope?: Scope;
  readonly artifacts: boolean;
  /** The last so many messages; `undefined`: all. */
  readonly history?: number | undefined;
  /** Only messages that follow a seq up to this one. */
  readonly upTo?: number;
  /**
   * Artifacts, or a history, of more bytes than this are left out of the record, so that no call reads all of a large task at once:
   * see `artifacts` and `largeHistory` of {@link TaskRecord}. Absent: nothing is left out.
   */
  readonly largeBytes?: number | undefined;
}

export interface TaskRecord {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly scope: Scope;
  readonly dialect: string;
  readonly createdAt: number;
  readonly head: TaskHead;
  /** The last seq of the log. */
  readonly seq: number;
  /**
   * Events before this one are no longer kept. 1 while all are; `seq + 1` where none is. It never falls. Only this, or a page of the log that
   * begins later than asked, says that events are gone: an empty page may be followed by a commit.
   */
  readonly firstSeq: number;
  readonly epoch: number;
  /** Who holds the lease, living or not. */
  readonly node?: string;
  readonly history: readonly HistoryEntry[];
  /** The history is larger than `largeBytes`, and `history` is empty: `Store.history` yields the messages from `from` up to, not including, `to`. */
  readonly largeHistory?: { readonly from: number; readonly to: number };
  /** The folded artifacts, if asked for and kept and, while the log is whole, not larger than `largeBytes`; otherwise they are to be folded from the log. */
  readonly artifacts?: string;
}

export interface ListQuery {
  readonly scope: Scope;
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Only tasks whose status is of this time or later. */
  readonly statusSince?: number;
  readonly limit: number;
  /** The last row of the page before. */
  readonly before?: ListCursor;
  readonly artifacts: boolean;
  readonly history?: number | undefined;
  /** As in {@link GetOptions}, for each record by itself. */
  readonly largeBytes?: number | undefined;
  /**
   * The page ends before the task that would take it over this many bytes, but has one task at least. A task counts with everything that
   * is asked for, what is left out as large included. Absent: no limit.
   */
  readonly maxBytes?: number | undefined;
}

export interface ListCursor {
  readonly at: number;
  readonly id: string;
}

export interface ListPage {
  /** Newest status first, ties by id descending. */
  readonly tasks: readonly TaskRecord[];
  /** How many match, whatever the page. */
  readonly total: number;
  /** Absent on the last page. */
  readonly next?: ListCursor;
}

export interface Position {
  readonly id: TaskId;
  readonly seq: number;
  readonly ended: boolean;
}

/**
 * `busy`, `full`: nothing was written, another try may succeed. `unknown`: whether it was written cannot be known until the
 * store is opened again; the process must stop. `closed`: the store was closed. `unusable`: it cannot be opened as it is
 * (corrupt, of a newer schema, owned by another process); the message says what to do.
 */
export type StoreErrorCode = "busy" | "full" | "unknown" | "closed" | "unusable";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
