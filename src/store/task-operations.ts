import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { TaskState } from "../protocol/state.ts";
import type { JournalRecord } from "./journal-record.ts";
import type { WebhookDraft } from "./webhook-operations.ts";

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
  /** The task that called the agent. It need not be in this store. */
  readonly parent?: TaskId;
  /** The first task of the chain of parents. Present if `parent` is. */
  readonly root?: TaskId;
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
  /** Added to the journal. */
  readonly journal?: readonly JournalRecord[];
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
 * with this id waits (see also `uniquePrefix`), `changed`, `full`, `ended`, `not-found`.
 */
export interface InboxPost {
  readonly kind: "post";
  readonly task: TaskId;
  readonly entry: InboxEntry;
  /** The outcome is `full` if this many messages wait. Cancel requests are always accepted. */
  readonly maxWaiting: number;
  /**
   * For idempotent messages: the beginning that the ids of all entries for this message have in common. The outcome is `duplicate` if an entry
   * whose id begins so waits, or is in the history (`HistoryEntry.inbox`), whatever the rest of its id is.
   */
  readonly uniquePrefix?: string | undefined;
  /**
   * The seq of the last event that the sender has seen. The outcome is `changed` if the task has another one, also if it has ended; and if the
   * task has accepted another message since: one waits in the inbox, or one of the history came from the inbox and follows this event.
   */
  readonly expectedSeq?: number | undefined;
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
