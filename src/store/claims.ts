import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { TaskRecord } from "./queries.ts";
import type { InboxEntry, LogEntry, StepRecord, TaskHead } from "./task-operations.ts";
import type { WebhookKey, WebhookRecord } from "./webhook-operations.ts";

/** Who claims, for which agents, and how much at most. */
export interface ClaimQuery {
  /** The node that gets the leases. A node that is not living (see `Store.heartbeat`) gets nothing: its own tasks would look unheld. */
  readonly node: string;
  /** Ids of the agents that the node serves. Tasks of other agents are left to the nodes that serve them. */
  readonly agents: readonly string[];
  /** The most tasks, or webhooks, that this call claims. */
  readonly limit: number;
}

/** The result of `Store.claimDue`. */
export interface DueTasks {
  /** The tasks that the node has claimed, oldest first. */
  readonly tasks: readonly DueTask[];
  /** The earliest `wakeAt` of the tasks of these agents that no living node holds after this call. Absent: there is none. */
  readonly nextWake?: number;
  /**
   * When the lease of another living node ends that holds tasks, unless that node renews it: the earliest such time. A store that leaves it out
   * makes nodes notice at their next poll.
   */
  readonly nextLapse?: number;
  /** How many other nodes are living. A store that leaves it out is used by one node, as far as its user knows. */
  readonly others?: number;
  /** What `Store.waitingEntries` returned for the node before this claim. A store that leaves it out is asked for it. */
  readonly waiting?: readonly WaitingEntry[];
}

/** A task that a node has just claimed. */
export interface DueTask {
  readonly id: TaskId;
  readonly scope: Scope;
  /** The epoch of the new lease. */
  readonly epoch: number;
  /** The node that held the lease before and is no longer living. Absent: the lease was released, or the store forgets nodes when it is opened. */
  readonly formerNode?: string;
  readonly head: TaskHead;
  /** The last seq of the log. */
  readonly seq: number;
}

/** What a node needs to continue a task, as of one moment. */
export interface ClaimedTask {
  /** With the whole history, and without artifacts. */
  readonly record: TaskRecord;
  readonly steps: readonly StepRecord[];
  readonly inbox: readonly InboxEntry[];
  /** The whole log. Absent: it has more bytes than the caller accepts, or no entries. */
  readonly entries?: readonly LogEntry[];
}

/** A webhook that a node has just claimed. */
export interface DueWebhook {
  /** With the new epoch and the node. */
  readonly webhook: WebhookRecord;
  /** The scope of its task. */
  readonly scope: Scope;
}

/** Everything that a node has claimed. */
export interface NodeClaims {
  readonly tasks: readonly { readonly id: TaskId; readonly epoch: number }[];
  readonly webhooks: readonly (WebhookKey & { readonly epoch: number })[];
}

/** An inbox entry without its body. */
export interface WaitingEntry extends Pick<InboxEntry, "id"> {
  readonly task: TaskId;
}
