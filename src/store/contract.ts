import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { TaskState } from "../protocol/state.ts";

/**
 * What the engine needs of a database. Everything is asynchronous and conditional inside the store, so that several
 * processes may share one store: nothing here relies on two calls seeing the same process.
 *
 * All times are milliseconds of the store's own clock (`heartbeat` tells it). All JSON texts are opaque to the store and
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
  /** Entries after `after`, oldest first, at least one if there is any, at most about `maxBytes`. */
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]>;
  /** Messages not taken yet, in order of arrival; cancels included. */
  inbox(id: TaskId): Promise<readonly InboxEntry[]>;
  steps(id: TaskId): Promise<readonly StepRecord[]>;
  /** The task that this scope's stream request with this message id made, if it is still kept. */
  findByMessage(scope: Scope, messageId: string): Promise<TaskId | undefined>;
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

  /** Deletes finished tasks that the retention policy no longer keeps; resolves with how many it deleted (bounded per call). */
  sweep(): Promise<number>;
  /** Rejects if the store cannot serve. */
  health(): Promise<void>;
  close(): Promise<void>;
}

/** How long finished tasks are kept. An active task is never deleted. Absent: for ever. */
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
  /** The seq this message follows. */
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

export type StoreOperation = TaskWrite | InboxPost | LeaseClaim;

/**
 * `ok`: applied (a post says who holds the lease, a claim says its new epoch). `inbox`: applied but for the end.
 * `held`: a living node has the lease. The others: nothing was applied.
 */
export type Outcome =
  | { readonly status: "ok"; readonly node?: string; readonly epoch?: number }
  | { readonly status: "held"; readonly node: string }
  | { readonly status: "inbox" | "fenced" | "duplicate" | "ended" | "not-found" | "full" };

export interface GetOptions {
  readonly scope?: Scope;
  readonly artifacts: boolean;
  /** The last so many messages; `undefined`: all. */
  readonly history?: number | undefined;
  /** Only messages that follow a seq up to this one. */
  readonly upTo?: number;
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
  /** Events before this one are no longer kept. 1 while all are. */
  readonly firstSeq: number;
  readonly epoch: number;
  /** Who holds the lease, living or not. */
  readonly node?: string;
  readonly history: readonly HistoryEntry[];
  /** The folded artifacts, if asked for and kept; otherwise they are to be folded from the log. */
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
