import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { TaskState } from "../protocol/state.ts";
import type { HistoryEntry, LogEntry, TaskHead } from "./task-operations.ts";

/** The task that a message created. */
export interface MessageTrace {
  readonly task: TaskId;
  readonly createdAt: number;
  /** `TaskCreate.idempotency.digest`. Absent if the task was created without idempotency. */
  readonly digest?: string;
}

/** What `get` returns of a task. */
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
  /** As in `TaskCreate`. */
  readonly parent?: TaskId;
  readonly root?: TaskId;
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

/** One page of the tasks of a caller. */
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

/** The tasks of one page, and how many there are on all pages. */
export interface ListPage {
  /** Newest `statusAt` first; equal times by id, descending. */
  readonly tasks: readonly TaskRecord[];
  /**
   * How many tasks match the query, on all pages. A store may count with a delay, but every change older than 5 seconds is counted; and it is
   * never less than the number of tasks on this page.
   */
  readonly total: number;
  /** Absent on the last page. */
  readonly next?: ListCursor;
}

/** Selects tasks of all scopes, for operators. All filters must match. */
export interface OperatorQuery {
  readonly agent?: string;
  readonly tenant?: string;
  readonly owner?: string;
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Only tasks that this task has called. */
  readonly parent?: TaskId;
  /** Only tasks below this one: the tasks it has called, the tasks that those have called, and so on. */
  readonly root?: TaskId;
  /** Only tasks whose `statusAt` is this time or later. */
  readonly statusSince?: number;
  /** Only tasks whose `statusAt` is before this time. */
  readonly statusBefore?: number;
  readonly limit: number;
  /** Continue after this cursor: `OperatorPage.next` of the page before. */
  readonly before?: ListCursor;
}

/** One page of the tasks of all callers. */
export interface OperatorPage {
  /** Newest `statusAt` first; equal times by id, descending. Without history and artifacts. */
  readonly tasks: readonly TaskRecord[];
  /** Absent on the last page. */
  readonly next?: ListCursor;
}

/** Where the log of a task ends. */
export interface Position {
  readonly id: TaskId;
  /** The last seq of the log. */
  readonly seq: number;
  readonly ended: boolean;
}

/** A task that another node writes, and what is known of it. */
export interface KnownTask {
  readonly id: TaskId;
  /** The last seq that is known. */
  readonly after: number;
  /** Later events are returned if they have at most about this many bytes together. 0: none are returned. */
  readonly maxBytes: number;
}

/** What a task has now. */
export interface TaskChange {
  readonly id: TaskId;
  /** The last seq of the log. */
  readonly seq: number;
  readonly head: TaskHead;
  /** All events after the seq that was known. Absent if they have more bytes than the caller accepts. */
  readonly entries?: readonly LogEntry[];
  /** The consumed inbox entries among the last messages of the history, oldest first, each with the seq it follows. */
  readonly consumed: readonly ConsumedEntry[];
}

/** An entry of the inbox that became a message of the history. */
export interface ConsumedEntry {
  readonly inbox: string;
  readonly after: number;
}
