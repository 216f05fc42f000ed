import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { PushConfig } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import type { TaskState } from "../protocol/state.ts";
import type { Task } from "../protocol/task.ts";
import type { TraceContext } from "../protocol/trace-context.ts";

/**
 * The content of a message: a text, one or several parts, or a message object. Missing members are filled in: a random `messageId`, and the role
 * `user`. Throws a `TypeError` if bytes are passed as text or data.
 */
export type MessageInput =
  | string
  | PartInput
  | readonly PartInput[]
  | (Partial<Omit<Message, "parts">> & { readonly parts: readonly PartInput[] });

/** A part of a message: a protocol part, or a file. */
export type PartInput = Part | { readonly file: FileInput };

/** A file to send: either its bytes, or a URL from which the agent fetches it. */
export type FileInput = {
  /** File name shown to the agent. */
  readonly name?: string;
  /** Media type, such as `application/pdf`. */
  readonly mediaType?: string;
} & ({ readonly bytes: Uint8Array; readonly url?: never } | { readonly url: string; readonly bytes?: never });

/** Options of every call. Every call rejects with a `RemoteError`; its `code` names the reason. */
export interface CallOptions {
  /** Stops waiting and rejects with `aborted`. The agent keeps working on its task. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds after which the call rejects with `timeout`. Default: the client's `timeout` (30 000); no limit for calls that wait for the
   * agent's work (`send`, `stream`, `wait`, `subscribe`, `reply`).
   */
  readonly timeout?: number;
  /**
   * Where the call belongs in a distributed trace; sent as `traceparent` and `tracestate`. Pass `task.trace` when an agent calls another agent
   * while it works on a task. Default: the call starts a trace if the client is observed, else it sends none.
   */
  readonly trace?: TraceContext | undefined;
}

/** Options of a message. */
export interface SendOptions extends CallOptions {
  /**
   * Wait until the task is finished or asks a question. Default true. The connection is silent while waiting, and many proxies close silent
   * connections after some minutes: for longer tasks use `stream`, or `wait: false` and then `task(id).wait()`.
   */
  readonly wait?: boolean;
  /** The task to continue, for example to answer its question. Default: start a new task. */
  readonly taskId?: string;
  /** The context (conversation) of the message. Default: the agent starts a new context. */
  readonly contextId?: string;
  /** Metadata of the request. Default: none. */
  readonly metadata?: JsonObject;
  /** Media types that the caller accepts as output. Default: the agent chooses. */
  readonly outputModes?: readonly string[];
  /** How many of the latest messages the returned task includes. Default: the agent chooses. */
  readonly historyLength?: number;
  /** A webhook that the agent notifies about the task. Default: none. */
  readonly push?: PushConfig;
  /**
   * The `generation` of the task that the caller has seen. The agent rejects the message with `task-changed` if the task has changed, or has accepted
   * another message, since. Ignored by a message that starts a task. Needs version 1.1. Default: no condition.
   */
  readonly ifGeneration?: number;
  /**
   * The servers that forwarded the message. Pass `task.callPath` when an agent sends a message while it works on a task. A server that is in the
   * path rejects the message with `loop-detected`. Default: empty.
   */
  readonly callPath?: readonly string[];
  /**
   * Tools by name that the agent may call. Their results are sent back automatically. If a tool throws, its result is
   * `{ isError: true, message }`. Default: none.
   */
  readonly tools?: Readonly<Record<string, (input: JsonValue | undefined, use: ToolCall) => unknown>>;
  /** Answers a question of the agent. Return `undefined` to leave the question open and end the call with it. Default: leave it open. */
  readonly onInput?: (question: Question) => MessageInput | undefined | Promise<MessageInput | undefined>;
}

/** Which artifacts a stream keeps: `all`, so that `task` and `result()` include them, or `none`. */
export type StreamResult = "all" | "none";

/** Options of a stream. */
export interface StreamOptions {
  /**
   * Whether the stream keeps artifacts. With `"none"`, `event.task`, `task` and `result()` have no artifacts: for callers that use the events only.
   * Default `"all"`: artifacts are kept up to `maxResultBytes`.
   */
  readonly result?: StreamResult;
}

/** One call of a tool by the agent. */
export interface ToolCall {
  /** The agent's id of this call. */
  readonly toolUseId: string;
  /** The task that calls the tool. */
  readonly task: Task;
  /** Aborts when the call that runs the tool is aborted or times out. */
  readonly signal: AbortSignal;
}

/** A question of the agent. */
export interface Question {
  /** The text of the question. */
  readonly text: string;
  /** The task that asks. */
  readonly task: Task;
  /** The answer is secret: mask it while it is typed. */
  readonly sensitive: boolean;
  /** The id of the question, if the agent gives one. The answer names it in `metadata.inputRequest.requestId`. */
  readonly requestId?: string;
  /** JSON Schema (draft 2020-12) of the answer, if the agent gives one. Answer with a data part. */
  readonly schema?: JsonObject;
}

/** The answer to a message: a task, or a message without a task. */
export type Sent =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "message"; readonly message: Message };

/**
 * One event of a stream. The event of a task includes the task as it is after the event. Reading `task` throws `result-too-large` once the
 * artifacts take more than `maxResultBytes`.
 */
export type RemoteStreamEvent =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "message"; readonly message: Message }
  | (TaskEvent & { readonly task: Task });

/**
 * A stream of events that survives broken connections: every event once, in order. The stream of a sent message ends when the task is finished
 * or asks a question; the stream of a subscription continues after questions if the agent keeps it open. The first request is made
 * when reading starts. A reader that stops early closes the connection; the task continues.
 */
export interface RemoteStream extends AsyncIterable<RemoteStreamEvent> {
  /** The task as known so far. Throws `result-too-large` if its artifacts take more than `maxResultBytes`. */
  readonly task: Task | undefined;
  /** Reads to the end and resolves with the result. Rejects with `result-too-large` if the artifacts take more than `maxResultBytes`. */
  result(): Promise<Sent>;
}

/** Which tasks to list. */
export interface TaskFilter extends CallOptions {
  /** Only tasks of this context. Default: all contexts. */
  readonly contextId?: string;
  /** Only tasks in this state. Default: all states. */
  readonly state?: TaskState;
  /** Only tasks whose status changed at this time or later. Default: any time. */
  readonly since?: Date;
  /** Tasks per page. Default 50. The agent may apply a smaller size. */
  readonly pageSize?: number;
  /** Whether the tasks include artifacts. Default false. */
  readonly artifacts?: boolean;
  /** How many of the latest messages each task includes. Default: the agent chooses. */
  readonly historyLength?: number;
}

/** One page of an agent's tasks. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Pass it as `pageToken` to get the next page. Empty on the last page. */
  readonly nextPageToken: string;
  /** The page size that the agent applied. */
  readonly pageSize: number;
  /** The number of tasks on all pages. */
  readonly total: number;
}

/** Options of reading a task. */
export interface GetOptions extends CallOptions {
  /** How many of the latest messages the task includes. Default: the agent chooses. */
  readonly historyLength?: number;
  /**
   * The `generation` of the task that the caller has seen. The agent answers once the task has a greater one, has ended, or after a time that the agent
   * limits (Palaver: 30 s): compare the generation, and call again. Needs version 1.1. With it, there is no `timeout` by default.
   */
  readonly waitForChange?: number;
}

/** One task of a remote agent. Creating it makes no request. */
export interface RemoteTask {
  /** The task's id. */
  readonly id: string;
  /** Reads the task. Rejects with `task-not-found`. */
  get(options?: GetOptions): Promise<Task>;
  /** Resolves when the task is finished or asks a question. */
  wait(options?: CallOptions): Promise<Task>;
  /** Cancels the task. Rejects with `task-not-cancelable` if it is finished. */
  cancel(options?: CallOptions & { readonly metadata?: JsonObject }): Promise<Task>;
  /** Streams the task's events from now on, starting with the task as it is. */
  subscribe(options?: CallOptions & StreamOptions): RemoteStream;
  /** Sends a message to the task, for example the answer to its question. */
  reply(input: MessageInput, options?: Omit<SendOptions, "taskId">): Promise<Sent>;
  /** The task's webhooks. */
  readonly push: RemotePush;
}

/** The webhooks of a task (`pushNotificationConfig` in the protocol). Methods reject with `push-not-supported` if the agent has no webhooks. */
export interface RemotePush {
  /** Adds a webhook, or replaces the one with the same id. Resolves with the webhook as the agent stored it. */
  create(config: PushConfig, options?: CallOptions): Promise<PushConfig>;
  /** Reads a webhook by id; without an id, the latest. Rejects with `task-not-found` if there is none. */
  get(id?: string, options?: CallOptions): Promise<PushConfig>;
  /** Lists all webhooks of the task. */
  list(options?: CallOptions): Promise<readonly PushConfig[]>;
  /** Deletes a webhook. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** A remote agent, whatever protocol version it supports. Create it with `connect`. All methods reject with a `RemoteError`. */
export interface AgentClient {
  /** The agent's public card; after `extendedCard()`, its extended card. */
  readonly card: AgentCard;
  /** The interface in use: the first of the chosen ones that can be reached. */
  readonly interface: AgentInterface;
  /** Milliseconds for which the agent recognises a repeated message by its id, so that resending it is safe. 0: it does not. */
  readonly resendWindow: number;
  /**
   * Sends a message and resolves with the task or message that answers it. Rejects with `outcome-unknown` if the connection broke and the
   * agent may have received the message.
   */
  send(input: MessageInput, options?: SendOptions): Promise<Sent>;
  /** Sends a message and streams the events of its task. The message is sent when reading starts. */
  stream(input: MessageInput, options?: SendOptions & StreamOptions): RemoteStream;
  /** A task by its id. Makes no request. */
  task(id: string): RemoteTask;
  /** The caller's tasks, latest status first. Each page is requested when the previous one has been read. */
  tasks(filter?: TaskFilter): AsyncIterable<Task>;
  /** One page of the caller's tasks. Rejects with `unsupported-operation` if the agent does not list tasks. */
  taskPage(filter?: TaskFilter & { readonly pageToken?: string }): Promise<TaskPage>;
  /**
   * Reads the card for authenticated callers. It replaces `card`, including the declared capabilities; the interface stays. With `verify`,
   * it must be signed like the public card.
   */
  extendedCard(options?: CallOptions): Promise<AgentCard>;
}

/** Alias of `AgentClient`. */
export type A2AClient = AgentClient;

/** Alias of `RemoteStreamEvent`. */
export type A2AStreamEvent = RemoteStreamEvent;

/** The parameters of `send`: the message and its options. */
export type MessageSendParams = Parameters<AgentClient["send"]>;
