import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message, Role } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { StepCall, StepCallResult } from "../../telemetry/contract.ts";
import type { AgentCall, CallData, CallMessage, CallOptions, CallTarget } from "./call-types.ts";
import type { OnlyJson } from "./json-check.ts";
import type { JsonSchemaSource } from "./json-schema.ts";
import type { Output, ReceivedFile, RunResult } from "./output-types.ts";

/** Writes one artifact of the task. Each method rejects with a `TaskAborted` after the run was aborted. */
export interface ArtifactWriter {
  /** Appends a chunk. Resolves when the chunk is queued; waits if the store falls behind. Readers see a chunk only after it is stored. */
  write(output: Output): Promise<void>;
  /** Replaces the whole content of the artifact. Later writes append to it. */
  replace(output: Output): Promise<void>;
  /** Completes the artifact, optionally with a last chunk. */
  end(output?: Output): Promise<void>;
}

/** Options of an artifact. An option that is passed again later replaces the earlier value. */
export interface ArtifactOptions {
  /** For people and language models: what the artifact contains. */
  readonly description?: string;
  /** Any JSON object, for the reader. */
  readonly metadata?: JsonObject;
  /** URIs of the extensions whose data `metadata` contains (A2A 1.0 §4.1.7). */
  readonly extensions?: readonly string[];
}

/** Passed to the function of `task.step`. */
export interface StepContext {
  /** An idempotency key: the same for every attempt of this step. Pass it to the services that the step calls. */
  readonly key: string;
  /** Attempt of the run, starting at 1. */
  readonly attempt: number;
  /** As `task.signal`: pass it to the calls that the step makes. */
  readonly signal: AbortSignal;
  /** As `task.trace`, for calls that the step makes. */
  readonly trace: TraceContext | undefined;
}

/** Options of `task.step`. */
export interface StepOptions<T> {
  /** The model or the tool that the step calls: its span in traces is then `chat MODEL` or `execute_tool TOOL`. */
  readonly call: StepCall;
  /** Describes the result for traces and time lines. Called once, before the result is stored. */
  readonly describe?: (result: T) => StepCallResult;
}

/** Options of `task.ask`. */
export interface AskOptions<Schema extends StandardSchemaV1 | undefined = undefined> {
  /** Validates the answer. After an invalid answer the question is asked again with the validation errors. */
  readonly schema?: Schema;
  /** The JSON Schema of `schema`, if its library does not support Standard JSON Schema. Callers get it with the question. */
  readonly jsonSchema?: JsonSchemaSource;
  /** The answer is stored encrypted, for replay only: never in history, events or logs. */
  readonly sensitive?: boolean;
  /** Milliseconds to wait for the answer. Overrides the agent's `inputTimeout`. */
  readonly timeout?: number;
  /** At the timeout: fail the task (default), or resolve with `undefined`. */
  readonly onTimeout?: "fail" | "continue";
  /** Identifies the question in a replay. Default: the text of the question. */
  readonly name?: string;
  /** Asks the caller to run one of its own tools and to answer with the result. */
  readonly tool?: { readonly name: string; readonly input?: JsonValue };
}

/** Options of `task.requireAuth`. */
export interface AuthOptions {
  /** Alternatives: names of schemes that the caller knows (for example from the card), or schemes in the form of a card. */
  readonly schemes?: readonly (string | JsonObject)[];
  /** What is needed, for programs that do not read the message. */
  readonly description?: string;
  /**
   * The caller must answer with a secret. It may encrypt the secret to a key that is created for this request. The secret is stored encrypted, for
   * replay only: never in history, events or logs.
   */
  readonly secret?: boolean;
  /** Resolves when the authorisation was granted elsewhere; rejects when it was refused. Called again in each attempt. */
  readonly until?: (signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds to wait; then the task fails. Default: no limit. */
  readonly timeout?: number;
  /** Identifies the request in a replay. Default: its text. */
  readonly name?: string;
}

/** A request for an authorisation by the caller. */
export interface AuthRequest extends AuthOptions {
  /** For people: what the authorisation is for, and what to do. */
  readonly message: string | Part | readonly Part[];
}

/** Type of an answer: the output of the schema, or the text. */
export type Answer<Schema extends StandardSchemaV1 | undefined> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : string;

/** Writes to the log of the server, with the ids of the task, its context, its agent and its trace. */
export interface TaskLog {
  /** Details for finding errors; the server hides them by default. */
  debug(message: string, details?: object): void;
  /** Normal events. */
  info(message: string, details?: object): void;
  /** Something is wrong, but the work goes on. */
  warn(message: string, details?: object): void;
  /** Work has failed. */
  error(message: string, details?: object): void;
}

/** Links of a status message to other tasks. */
export interface StatusLinks {
  /** Ids of the other tasks. */
  readonly referenceTaskIds: readonly string[];
  /** Metadata of the status event. */
  readonly metadata?: JsonObject;
}

/** What a task has used. All values are added up, so pass only what is new. */
export interface Usage {
  /** The model that was used: its share is also counted under `models`. */
  readonly model?: string;
  /** Tokens of prompts. */
  readonly inputTokens?: number;
  /** Tokens of answers. */
  readonly outputTokens?: number;
  /** Input and output tokens together. */
  readonly totalTokens?: number;
  /** Of the input tokens: those that the model had cached. */
  readonly cachedInputTokens?: number;
  /** Of the output tokens: those of the model's reasoning. */
  readonly reasoningTokens?: number;
  /** Calls of language models. */
  readonly modelCalls?: number;
  /** Calls of tools. */
  readonly toolCalls?: number;
  /** In the currency of your choice. */
  readonly cost?: number;
  /** Anything else that can be counted. */
  readonly [name: string]: number | string | undefined;
}

/** A tool that the agent calls, for readers of the task. */
export interface ToolCall {
  /** Unique among the tool calls of the turn. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments of the call. */
  readonly input?: JsonValue;
}

/** The outcome of a tool call. */
export type ToolCallResult =
  | { readonly id: string; readonly output: JsonValue; readonly error?: never }
  | { readonly id: string; readonly error: string; readonly output?: never };

/** A message of an earlier task, or an earlier turn, of the same conversation. */
export interface ConversationMessage {
  /** `user`: the caller; `agent`: a question or a result of this agent. */
  readonly role: Role;
  /** Inline files are text parts that name the file, unless `files` is `inline`. */
  readonly parts: readonly Part[];
  /** The task that the message belongs to. */
  readonly taskId: string;
}

/** Options of `task.conversation`. */
export interface ConversationOptions {
  /** How many messages, counted from the latest. Default 100, at most 1000. */
  readonly limit?: number;
  /** `name` (default): an inline file is replaced by a text with its name and media type. `inline`: it is returned with its content. */
  readonly files?: "name" | "inline";
}

/**
 * Small durable values of a context. They are shared by all tasks of the same agent, tenant, caller and context, and are deleted with the last of
 * these tasks. A value is any JSON; a key has 1 to 200 characters. All keys and values of a context may have `maxContextBytes` (64 KB) in total:
 * above it, writing rejects with `context-too-large`.
 *
 * Each call is stored, so a replay after a restart returns the same values and writes nothing twice. Each call counts as a step (`maxSteps`).
 */
export interface ContextValues {
  /** The value; `undefined` if there is none. Sees the writes of other tasks that are stored already. */
  get(key: string): Promise<JsonValue | undefined>;
  /** Sets the value. Resolves when it is stored. */
  set(key: string, value: JsonValue): Promise<void>;
  /** Deletes the value, if there is one. Resolves when that is stored. */
  delete(key: string): Promise<void>;
  /**
   * Replaces the value by what `change` returns for the current value; `undefined` deletes it. If another task writes the value at the same time,
   * `change` is called again with the new value. Resolves with the stored value. Rejects with `context-conflict` after 20 tries.
   */
  update(
    key: string,
    change: (current: JsonValue | undefined) => JsonValue | undefined,
  ): Promise<JsonValue | undefined>;
}

/** The task that the author's function works on. `Input` is the output type of the skill's schema. */
export interface TaskContext<Input = JsonValue | undefined> {
  /** The id of the task, as the caller knows it. */
  readonly id: string;
  /** The conversation that the task belongs to. The caller chooses it, or else the server. */
  readonly contextId: string;
  /**
   * The task's place in a distributed trace: pass it as `trace` to calls of other agents, or write it into the headers `traceparent` and
   * `tracestate` of other requests. `undefined` if the caller sent no trace context and the server does not trace.
   */
  readonly trace: TraceContext | undefined;
  /** The message that started this turn. The same in a replay. */
  readonly message: Message;
  /** The text of that message. */
  readonly text: string;
  /** The data of that message: the validated input of the skill, or the first data part. */
  readonly data: Input;
  /** The files of that message: inline content, or a URL. */
  readonly files: readonly ReceivedFile[];
  /** All messages of the task so far, oldest first. */
  readonly history: readonly Message[];
  /** The artifacts from earlier turns. */
  readonly artifacts: readonly Artifact[];
  /** The authenticated caller, or the anonymous one. */
  readonly caller: Principal;
  /** The tenant of the caller; empty without tenants. */
  readonly tenant: string;
  /** Metadata of the request that created the task. */
  readonly metadata: JsonObject;
  /** Media types that the caller accepts; empty: any. */
  readonly outputModes: readonly string[];
  /** URIs of the active extensions: declared by the agent and requested by the call that created the task. */
  readonly extensions: readonly string[];
  /**
   * The agents that the task's messages passed through, this agent last. Pass it as `callPath` to every call of another agent for this task, so
   * that cycles of agents that call each other are detected.
   */
  readonly callPath: readonly string[];
  /** Id of the skill that this turn was routed to. */
  readonly skillId: string | undefined;
  /** 1 for the first start of this turn, plus 1 for each restart after a crash or after the run was parked. */
  readonly attempt: number;
  /** Aborts on cancel, timeout, shutdown, lost lease and parking; `signal.reason` is a `TaskAborted`. */
  readonly signal: AbortSignal;
  /** Writes to the log of the server, with the ids of the task. */
  readonly log: TaskLog;
  /** Values that the tasks of one context share. */
  readonly context: ContextValues;

  /**
   * Appends to the artifact `result`, like a value that a generator yields. It may be called inside a step: what a step wrote is stored with its
   * result and not written again. The artifact is completed when the task ends.
   */
  write(output: Output): Promise<void>;
  /**
   * The earlier messages and results of the context: those of ended tasks of the same agent and caller, then those of earlier turns of this task,
   * oldest first. Without the message of this turn. The same in a replay.
   */
  conversation(options?: ConversationOptions): Promise<readonly ConversationMessage[]>;
  /**
   * Sets the status message of the working task, for people. `referenceTaskIds` names other tasks in the message, such as those of called agents, so that
   * clients can track relations.
   */
  status(message?: string | Part | readonly Part[], metadata?: JsonObject): Promise<void>;
  status(message: string | Part | readonly Part[], links: StatusLinks): Promise<void>;
  /**
   * Calls another agent: one of this server by its id, without HTTP, or any other by its URL. Await it for the result, or read its events with
   * `for await`. The message id is stored before it is sent, so the call continues after a crash of either side, and its result is stored like that of a
   * step. If this task is canceled or fails, the called task is canceled; questions of the called agent go to the caller of this task. Rejects with a
   * `CallError`.
   */
  call<
    const Input extends StandardSchemaV1 | undefined = undefined,
    const Result extends StandardSchemaV1 | undefined = undefined,
  >(target: CallTarget, message: CallMessage<Input>, options?: CallOptions<Input, Result>): AgentCall<CallData<Result>>;
  /**
   * Sets metadata of the task, such as usage or results. Gets and lists show it after the next commit; the last status event contains it. Keys are
   * merged with earlier calls; `null` or `undefined` removes a key. Rejects with `metadata-too-large` over 16 KB of JSON in total.
   */
  setMetadata(metadata: Readonly<Record<string, JsonValue | undefined>>): Promise<void>;
  /**
   * Adds to the counters in `usage` of the task's metadata, over all turns of the task, and to those of its tree of calls. A call that is stored already is
   * not counted again in a replay. Rejects with a `TypeError` for a value that is negative or no number, and with a `TaskFailure` (`budget-exceeded`) if
   * the tree has used more than its budget: then the task fails.
   */
  usage(usage: Usage): Promise<void>;
  /**
   * For agents that send messages with a client of their own instead of `call`: the ancestry of this task, signed for this message id. Add it to the metadata
   * of the request if the card of the called agent declares the extension `CALLS`. Rejects with a `CallError` if this task may call nobody.
   */
  callMetadata(messageId: string): Promise<JsonObject>;
  /** Reports to readers that the agent calls a tool: a status with a data part of the kind `tool-use`. Reported once for each id, also in a replay. */
  toolCall(call: ToolCall): Promise<void>;
  /** Reports the outcome of a tool call: a status with a data part of the kind `tool-result`. Reported once for each id, also in a replay. */
  toolResult(result: ToolCallResult): Promise<void>;
  /** A writer for the artifact with this name. The same name is the same artifact, in every attempt. */
  artifact(name: string, options?: ArtifactOptions): ArtifactWriter;
  /**
   * Runs `work` and stores its result: after a restart the stored result is returned, and `work` does not run again. The result must be plain JSON.
   * The compiler rejects a Map, a Date, bytes or a class instance if it can see the type; otherwise the task fails with `step-not-json`.
   */
  step<T>(
    name: string,
    work: (step: StepContext) => (T | Promise<T>) & OnlyJson<T>,
    options?: StepOptions<T>,
  ): Promise<T>;
  /** Waits this many milliseconds, also across restarts of the server. */
  sleep(milliseconds: number, options?: { readonly name?: string }): Promise<void>;
  /** Asks the caller and waits for the answer, also across restarts of the server. */
  ask<const Schema extends StandardSchemaV1 | undefined = undefined>(
    question: string | Part | readonly Part[],
    options: AskOptions<Schema> & { readonly onTimeout: "continue" },
  ): Promise<Answer<Schema> | undefined>;
  ask<const Schema extends StandardSchemaV1 | undefined = undefined>(
    question: string | Part | readonly Part[],
    options?: AskOptions<Schema>,
  ): Promise<Answer<Schema>>;
  /**
   * The next unread message of the task. Waits for one, unless `wait` is false; with a `signal`, waits until it aborts and then resolves with
   * `undefined`. `name` identifies the call in a replay.
   */
  next(options: { readonly wait: false; readonly name?: string }): Promise<Message | undefined>;
  next(options: { readonly signal: AbortSignal; readonly name?: string }): Promise<Message | undefined>;
  next(options?: { readonly wait?: true; readonly name?: string }): Promise<Message>;
  /**
   * Asks the caller for an authorisation and waits, also across restarts of the server. Resolves with the caller's next message, or with
   * `undefined` after `until` resolved. With `secret`, resolves with the secret from the answer.
   */
  requireAuth(request: AuthRequest & { readonly secret: true; readonly until?: never }): Promise<string>;
  requireAuth(request: AuthRequest & { readonly secret: true }): Promise<string | undefined>;
  requireAuth(request: AuthRequest): Promise<Message | undefined>;
  /** The same with an explanation only. */
  requireAuth(
    explanation: string | Part | readonly Part[],
    options?: Pick<AuthOptions, "until" | "timeout" | "name">,
  ): Promise<Message | undefined>;
  /** Throws: ends the task as `rejected`. */
  reject(reason: string): never;
  /** Resolves when everything written so far is stored. */
  flush(): Promise<void>;
}

/** A `run` function of an agent or a skill. */
export type RunFunction<Input = JsonValue | undefined> = (task: TaskContext<Input>) => RunResult;
