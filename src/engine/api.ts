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
 * The engine, as the operations of a server use it. Reads return only committed data. Every method rejects with an `A2AError`. A task outside
 * of the caller's scope is treated like one that does not exist.
 */
export interface Engine {
  /**
   * Accepts a message. The agent's `reply` answers it directly, or it creates a task, or it continues an existing task (`message.taskId`). Rejects,
   * with nothing stored, if the task is unknown or finished, if the context is not the task's, at capacity, and while the server is draining.
   */
  submit(submission: Submission): Promise<Submitted>;
  /** Resolves once the submitted message is committed. */
  accepted(ticket: Ticket): Promise<void>;
  /**
   * Resolves once the task no longer shows the question that the submitted message answers, because the run consumed the message or the task ended.
   * Resolves after 1 s at the latest, and immediately for a message that answers no question.
   */
  consumed(ticket: Ticket, caller: Caller): Promise<void>;
  /**
   * Resolves once the task has ended; or once it is interrupted and is done with the ticket's message, which was consumed or waits in the inbox for a
   * later turn; or when the server shuts down.
   */
  settled(ticket: Ticket, caller: Caller): Promise<void>;
  /** The task as it is now. `undefined`: no such task. */
  snapshot(scope: Scope, id: TaskId, options: SnapshotOptions): Promise<StoredTask | undefined>;
  list(query: ListQuery): Promise<TaskPage>;
  /** Asks the run to stop, and waits until the task has ended. */
  cancel(scope: Scope, id: TaskId): Promise<CancelResult>;
  /** `undefined`: no such task. Rejects with `invalid-params` if `after` is beyond the last event. */
  subscribe(scope: Scope, id: TaskId, options: SubscribeOptions): Promise<Subscription | undefined>;
  /** The ticket of the task that a streaming send with this message id created. */
  findByMessage(scope: Scope, messageId: string): Promise<Ticket | undefined>;
  /** The ticket of the task with this id. */
  find(scope: Scope, id: TaskId): Promise<Ticket | undefined>;
  /** Rejects with the reason while the engine cannot accept messages. */
  ready(): Promise<void>;
}

/** The waiting request. `signal` is read only if the wait takes longer, because creating it has a cost. */
export interface Caller {
  readonly signal: AbortSignal;
}

export interface Submission extends Caller {
  readonly scope: Scope;
  readonly caller: Principal;
  readonly dialect: string;
  /** `taskId`: continue that task. `contextId`: create the new task in that context. */
  readonly message: Message;
  /** If the task `message.taskId` does not exist, create it with that id. Default: reject. */
  readonly namesTask?: boolean | undefined;
  /**
   * A message with a `contextId` and no `taskId` continues the caller's input-required task of that context, if there is exactly one and its question
   * does not require the task id. Default: it creates a task.
   */
  readonly answersByContext?: boolean | undefined;
  /** The caller understands only tasks: the agent's `reply` is returned as a finished task. */
  readonly tasksOnly?: boolean | undefined;
  /**
   * Milliseconds after which the task fails if it has not ended. Unlike the agent's own `timeout`, sleeping and waiting for an answer count, and
   * there is no grace. Only for a message that creates a task.
   */
  readonly timeoutMs?: number | undefined;
  /** W3C trace context of the request, unparsed. The trace id is added to the metadata of the task's events. */
  readonly traceparent?: string | undefined;
  /** The agents that the message has passed. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /** The metadata of the request, not of the message. */
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  /** URIs of the active extensions. */
  readonly extensions: readonly string[];
  /** Store the message id, so that a client whose stream broke can repeat the request and find the task. */
  readonly streaming: boolean;
  /** Stored in the same transaction as the message. */
  readonly webhook?: SubmittedWebhook | undefined;
  /**
   * Idempotency window in milliseconds. A repeated message of the same caller gets the task that the earlier message created; another message
   * with the same id is refused as `conflict`. Absent: no idempotency, every message is processed.
   */
  readonly idempotencyWindow?: number | undefined;
  /** Throws if the caller may not use this skill. Called once the skill is known, before anything is stored. */
  readonly admitSkill?: ((skill: string) => void) | undefined;
}

export interface SubmittedWebhook {
  readonly draft: WebhookDraft;
  readonly maxPerTask: number;
  readonly only: boolean;
}

export type Submitted =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "task"; readonly ticket: Ticket };

/** Identifies a message that was submitted to a task. */
export interface Ticket {
  readonly taskId: TaskId;
  /** The task id that the engine and the store use. */
  readonly key: TaskId;
  readonly contextId: ContextId;
  /** The inbox entry of the message; absent for the message that created the task. */
  readonly inbox?: string;
  /** The seq of the last question that was visible when the message was accepted. The message answers no later question. Default: 0. */
  readonly asked?: number;
  /** The request ids of the open questions that the message answers. */
  readonly answers?: readonly string[];
}

export interface SnapshotOptions {
  readonly artifacts: boolean;
  /** How many of the last messages to include. `undefined`: all; 0: no `history` member. */
  readonly history?: number | undefined;
  /** Add all states the task has had to its metadata, as `stateTransitions`. Default: false. */
  readonly stateHistory?: boolean;
  /** Artifacts, or a history, of more bytes than this are returned in pieces (`large`). Absent: always as one text. */
  readonly largeBytes?: number | undefined;
}

export interface TaskPage {
  readonly tasks: readonly StoredTask[];
  readonly total: number;
  readonly next?: ListCursor;
}

/** `repeated`: the task was canceled before. `too-late`: the task ended in another way, before or despite the cancel request. */
export type CancelResult = "canceled" | "repeated" | "too-late" | "not-found";

export interface SubscribeOptions {
  /** Continue after this seq. Absent: from now on. */
  readonly after?: number;
  /** Follow this message. For the message that created the task: from the first event on. */
  readonly ticket?: Ticket;
  /** As in {@link SnapshotOptions}, for the opening. */
  readonly largeBytes?: number | undefined;
}

/** A committed event as text, with the members that a stream needs without parsing it. */
export interface ViewEntry {
  readonly seq: number;
  /** The event as stored JSON; `readEvent` parses it. */
  readonly body: string;
  /** Present on status events. */
  readonly state?: TaskState;
  /**
   * The event as encoded for the wire, by a key that the codec chooses. All subscriptions share it, so that each protocol version is encoded once.
   * Absent if only one subscription reads the task.
   */
  readonly encoded?: EncodedTexts | undefined;
}

export interface EncodedTexts {
  get(key: string): string | undefined;
  set(key: string, text: string): void;
}

export interface Batch {
  /** At least one. A status that is interrupted or terminal ends its batch. */
  readonly entries: readonly ViewEntry[];
  /** As of the last entry, the ticket's message was consumed or waits for a later turn. True without a ticket. */
  readonly answered: boolean;
}

export interface Subscription {
  /** The task for the first frame of a stream; the events continue after its `seq`. Available only before the first `next()`. */
  readonly opening: StoredTask;
  /** The requested events are not stored any more, so `opening` is the whole current task. */
  readonly resync: boolean;
  /** The task has ended, and no event follows the cursor. */
  readonly ended: boolean;
  /** As of `opening` the task is interrupted, and is done with the ticket's message. */
  readonly answered: boolean;
  /** Waits for the next events. `undefined` after the terminal event, after `close`, and when the server shuts down. */
  next(): Promise<Batch | undefined>;
  close(): void;
}

/** Callbacks of the hosting application. */
export interface EngineHooks {
  readonly on?: {
    /** Called after each commit. An error of the handler is logged and changes nothing. */
    event?(event: TaskEvent & { readonly seq: number }, task: TaskRef): void | Promise<void>;
    /** Called for errors of agents that callers do not see. */
    error?(error: unknown, task: TaskRef | undefined): void | Promise<void>;
  };
  /** Changes an event before it is stored. Synchronous. It cannot change a state, a seq or an id. */
  transform?(event: TaskEvent, task: TaskRef): TaskEvent;
}

export interface TaskRef {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly scope: Scope;
  /** Version and binding of the request that created the task, for example `1.0/jsonrpc`. */
  readonly dialect: string;
}
