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
 * What the operations of a server ask of the engine. Reads see only what is committed. Refusals are `A2AError`s; a task
 * outside the scope is as good as none.
 */
export interface Engine {
  /**
   * Takes in a message: answered at once by the agent's `reply`, or the first of a new task, or one more for a running or
   * waiting one (`message.taskId`). Rejects, without having stored anything, for an unknown task, a finished one, a context that is not
   * the task's, a full queue, and when the server is draining.
   */
  submit(submission: Submission): Promise<Submitted>;
  /** Resolves once the submitted message is durable. */
  accepted(ticket: Ticket): Promise<void>;
  /**
   * Resolves once the task no longer shows the question that the submitted message answers: the message was read, or the task has ended. Resolves
   * after one second at the latest, and at once for a message that answers no question.
   */
  consumed(ticket: Ticket, caller: Caller): Promise<void>;
  /**
   * Resolves once the task has ended; or is interrupted and nothing works on the ticket's message any more, because the message was
   * consumed or was left in the inbox for a later turn; or the server shuts down.
   */
  settled(ticket: Ticket, caller: Caller): Promise<void>;
  snapshot(scope: Scope, id: TaskId, options: SnapshotOptions): Promise<StoredTask | undefined>;
  list(query: ListQuery): Promise<TaskPage>;
  /** Asks the run to stop, and waits for how it ends. */
  cancel(scope: Scope, id: TaskId): Promise<CancelResult>;
  /** `undefined`: no such task. Rejects a cursor beyond the log as invalid params. */
  subscribe(scope: Scope, id: TaskId, options: SubscribeOptions): Promise<Subscription | undefined>;
  /** The first message of the task that this scope's streaming send with this message id made. */
  findByMessage(scope: Scope, messageId: string): Promise<Ticket | undefined>;
  /** The first message of the task of that name. */
  find(scope: Scope, id: TaskId): Promise<Ticket | undefined>;
  /** Rejects, saying why, while the engine cannot take work. */
  ready(): Promise<void>;
}

/** Who waits. The signal is asked for only when it comes to a longer wait. */
export interface Caller {
  readonly signal: AbortSignal;
}

export interface Submission extends Caller {
  readonly scope: Scope;
  readonly caller: Principal;
  readonly dialect: string;
  /** `taskId` continues that task; `contextId` puts a new one into that context. */
  readonly message: Message;
  /** Where there is no task of `message.taskId`, make one of that name instead of refusing. */
  readonly namesTask?: boolean | undefined;
  /**
   * A message with a `contextId` and no `taskId` continues the caller's one input-required task of that context, unless its question needs
   * the task's id. Default: it begins a new task.
   */
  readonly answersByContext?: boolean | undefined;
  /** The caller knows tasks only: a bare reply is given to it as a finished task. */
  readonly tasksOnly?: boolean | undefined;
  /**
   * Milliseconds until this task fails, unless it has ended. Unlike the agent's own `timeout` it counts sleeping and waiting for an answer, and leaves no
   * grace. Only for a message that makes a task.
   */
  readonly timeoutMs?: number | undefined;
  /** W3C trace context of the request, unparsed. The trace's id then goes into the metadata of the task's events. */
  readonly traceparent?: string | undefined;
  /** The agents that the message has passed. Absent: none. */
  readonly callPath?: CallPath | undefined;
  /** The request's own metadata (not the message's). */
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  /** URIs of the extensions in force. */
  readonly extensions: readonly string[];
  /** Remember the message id, so that a broken stream's repeated request finds its task. */
  readonly streaming: boolean;
  /** To be stored together with the message. */
  readonly webhook?: SubmittedWebhook | undefined;
  /**
   * Idempotency window in milliseconds. A repeated message of the same caller gets the task that the earlier message created; another message
   * with the same id is refused as `conflict`. Absent: no idempotency, every message is processed.
   */
  readonly idempotencyWindow?: number | undefined;
  /** Throws where the caller may not use this skill. Called once the skill is known, before anything is stored. */
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

/** A message on its way into a task. */
export interface Ticket {
  readonly taskId: TaskId;
  /** What the engine itself calls the task. */
  readonly key: TaskId;
  readonly contextId: ContextId;
  /** The inbox entry it became; absent for the message that made the task. */
  readonly inbox?: string;
  /** The seq of the last question that was visible when the message was accepted: the message answers no later one. Default: 0. */
  readonly asked?: number;
  /** The request ids of the open questions that the message answers. */
  readonly answers?: readonly string[];
}

export interface SnapshotOptions {
  readonly artifacts: boolean;
  /** The last so many messages; `undefined`: all; 0: no `history` member. */
  readonly history?: number | undefined;
  /** Add all states the task has had to its metadata, as `stateTransitions`. Default: false. */
  readonly stateHistory?: boolean;
  /** Artifacts, or a history, of more bytes than this are given in pieces (`large`). Absent: always as one text. */
  readonly largeBytes?: number | undefined;
}

export interface TaskPage {
  readonly tasks: readonly StoredTask[];
  readonly total: number;
  readonly next?: ListCursor;
}

/** `repeated`: it was canceled before. `too-late`: it is finished otherwise, or finished so before the cancel took hold. */
export type CancelResult = "canceled" | "repeated" | "too-late" | "not-found";

export interface SubscribeOptions {
  /** Go on after this seq. Absent: from now. */
  readonly after?: number;
  /** Follow this message: a new task is followed from its very beginning. */
  readonly ticket?: Ticket;
  /** As in {@link SnapshotOptions}, for the opening. */
  readonly largeBytes?: number | undefined;
}

/** One committed event as text, with what a stream must know of it. */
export interface ViewEntry {
  readonly seq: number;
  /** The event in its stored spelling; `readEvent` parses it. */
  readonly body: string;
  /** Present on status events. */
  readonly state?: TaskState;
  /**
   * Texts that codecs made of this event, by a key of theirs. Subscribers of one event share it, so that each spelling is
   * made once. Absent where nobody else reads it.
   */
  readonly encoded?: EncodedTexts | undefined;
}

export interface EncodedTexts {
  get(key: string): string | undefined;
  set(key: string, text: string): void;
}

export interface Batch {
  /** At least one. A status that is interrupted or terminal is always the last of its batch. */
  readonly entries: readonly ViewEntry[];
  /** When the last of these was written, the ticket's message was consumed or left for a later turn. True without a ticket. */
  readonly answered: boolean;
}

export interface Subscription {
  /** The task as the stream's first frame shows it; its `seq` is where the events go on from. Only until the first `next()`. */
  readonly opening: StoredTask;
  /** The cursor lay before what is still kept: `opening` is the whole current task. */
  readonly resync: boolean;
  /** The task is finished and nothing is left after the cursor. */
  readonly ended: boolean;
  /** As of `opening` the task is interrupted, and nothing works on the ticket's message any more. */
  readonly answered: boolean;
  /** The next events; `undefined` after the terminal one, when closed, and when the server shuts down. */
  next(): Promise<Batch | undefined>;
  close(): void;
}

/** What the hosting application may look at or change. */
export interface EngineHooks {
  readonly on?: {
    /** After the commit; a failing handler is logged and changes nothing. */
    event?(event: TaskEvent & { readonly seq: number }, task: TaskRef): void | Promise<void>;
    error?(error: unknown, task: TaskRef | undefined): void | Promise<void>;
  };
  /** Changes an event before it is written. Synchronous; cannot change a state, a seq or an id. */
  transform?(event: TaskEvent, task: TaskRef): TaskEvent;
}

export interface TaskRef {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly scope: Scope;
  /** Version and binding of the call that made it, such as `1.0/jsonrpc`. */
  readonly dialect: string;
}
