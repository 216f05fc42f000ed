import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { PushConfig } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import type { TaskState } from "../protocol/state.ts";
import type { Task } from "../protocol/task.ts";

/** What to say to an agent: a text, parts, or members of a message. What is left out is made up. */
export type Said =
  | string
  | SaidPart
  | readonly SaidPart[]
  | (Partial<Omit<Message, "parts">> & { readonly parts: readonly SaidPart[] });

/** A part, or a file: its bytes, or its address. */
export type SaidPart = Part | { readonly file: SaidFile };

export type SaidFile = {
  readonly name?: string;
  readonly mediaType?: string;
} & ({ readonly bytes: Uint8Array; readonly url?: never } | { readonly url: string; readonly bytes?: never });

/** What every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds until it is given up. Default: 30 000 for a call that need not wait for an agent, none for one that does. */
  readonly timeout?: number;
}

export interface SendOptions extends CallOptions {
  /**
   * Wait until the task is finished or asks something. Default true. The connection is silent meanwhile, and few survive that for
   * more than some minutes: for what takes longer, stream, or do not wait here but with `task(id).wait()`.
   */
  readonly wait?: boolean;
  /** Go on with this task. */
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: JsonObject;
  /** The media types to answer in. */
  readonly outputModes?: readonly string[];
  /** The last so many messages. Default: as the agent sees fit. */
  readonly historyLength?: number;
  readonly push?: PushConfig;
  /**
   * The agents that the message has passed: `task.callPath` where it is sent for a task of an agent. A server that is among them refuses
   * the message as `loop-detected`. Default: none.
   */
  readonly callPath?: readonly string[];
  /**
   * Tools the agent may ask to be used, by name. Their results are sent back without asking; what a tool throws becomes the result
   * `{ isError: true, message }`.
   */
  readonly tools?: Readonly<Record<string, (input: JsonValue | undefined, use: ToolCall) => unknown>>;
  /** Answers what the agent asks. `undefined` leaves the question open: the call ends with it. */
  readonly onInput?: (question: Question) => Said | undefined | Promise<Said | undefined>;
}

/** What a stream keeps of the artifacts: all, so that its `task` and `result()` have them, or nothing. */
export type StreamResult = "all" | "none";

/** What streams take. */
export interface StreamOptions {
  /**
   * Whether the stream keeps artifacts. With `"none"`, `event.task`, `task` and `result()` have no artifacts: for readers that use the events
   * and need no whole task. With `"all"`, the default, they do, as long as the artifacts take no more than `maxResultBytes`.
   */
  readonly result?: StreamResult;
}

export interface ToolCall {
  readonly toolUseId: string;
  readonly task: Task;
  readonly signal: AbortSignal;
}

export interface Question {
  readonly text: string;
  readonly task: Task;
  /** What is typed must be masked. */
  readonly sensitive: boolean;
  /** The id of the question, where the agent gives one. The answer names it in `metadata.inputRequest.requestId`. */
  readonly requestId?: string;
}

/** The answer to a message: a task, or a bare message. */
export type Sent =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "message"; readonly message: Message };

/**
 * One thing that happened. Events of a task carry it as it is after them; to read `task` throws `result-too-large` once the artifacts
 * take more than `maxResultBytes`.
 */
export type RemoteStreamEvent =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "message"; readonly message: Message }
  | (TaskEvent & { readonly task: Task });

/**
 * A stream that goes on through broken connections: every event once, in order. That of a send ends with the task's end or its
 * question; that of a subscription goes on through questions, if the agent does. Nothing is asked before somebody reads; who
 * stops reading lets go of the connection, and of nothing else: the task goes on.
 */
export interface RemoteStream extends AsyncIterable<RemoteStreamEvent> {
  /** The task as known so far. Throws `result-too-large` where its artifacts are more than the stream keeps. */
  readonly task: Task | undefined;
  /** Reads to the end and gives what came of it. Rejects with `result-too-large` where that is more than the stream keeps. */
  result(): Promise<Sent>;
}

export interface TaskFilter extends CallOptions {
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Tasks whose status is of this time or later. */
  readonly since?: Date;
  readonly pageSize?: number;
  readonly artifacts?: boolean;
  readonly historyLength?: number;
}

/** Some of an agent's tasks. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** What to ask for the next page with. Empty on the last one. */
  readonly nextPageToken: string;
  /** The size that the agent applied. */
  readonly pageSize: number;
  /** How many tasks there are, on all pages. */
  readonly total: number;
}

/** One task of a remote agent. Nothing is asked before a method is called. */
export interface RemoteTask {
  readonly id: string;
  get(options?: CallOptions & { readonly historyLength?: number }): Promise<Task>;
  /** Resolves when the task is finished or asks something. */
  wait(options?: CallOptions): Promise<Task>;
  cancel(options?: CallOptions & { readonly metadata?: JsonObject }): Promise<Task>;
  subscribe(options?: CallOptions & StreamOptions): RemoteStream;
  reply(said: Said, options?: Omit<SendOptions, "taskId">): Promise<Sent>;
  readonly push: RemotePush;
}

/** A task's push notification configurations. */
export interface RemotePush {
  create(config: PushConfig, options?: CallOptions): Promise<PushConfig>;
  get(id?: string, options?: CallOptions): Promise<PushConfig>;
  list(options?: CallOptions): Promise<readonly PushConfig[]>;
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** An agent somewhere else, whatever version it speaks. */
export interface RemoteAgent {
  /** What it says of itself: its public card, and its extended card once that was asked for. */
  readonly card: AgentCard;
  /** The way in that is taken: the best one that somebody answers at. */
  readonly interface: AgentInterface;
  /** Milliseconds for which a message may be sent again by the same id, on that way in, without anything being done twice; 0: not at all. */
  readonly resendWindow: number;
  send(said: Said, options?: SendOptions): Promise<Sent>;
  stream(said: Said, options?: SendOptions & StreamOptions): RemoteStream;
  task(id: string): RemoteTask;
  /** The caller's tasks, newest status first, page after page as they are read. */
  tasks(filter?: TaskFilter): AsyncIterable<Task>;
  /** One page of them. */
  taskPage(filter?: TaskFilter & { readonly pageToken?: string }): Promise<TaskPage>;
  /**
   * The card that the agent shows to those it knows. From then on it is `card`, and what it declares counts; the way in stays. With `verify`
   * it must be signed as the public one must.
   */
  extendedCard(options?: CallOptions): Promise<AgentCard>;
}

/** Another name of `RemoteAgent`. */
export type A2AClient = RemoteAgent;

/** Another name of `RemoteStreamEvent`. */
export type A2AStreamEvent = RemoteStreamEvent;

/** What `send` takes: the message, and options. */
export type MessageSendParams = Parameters<RemoteAgent["send"]>;
