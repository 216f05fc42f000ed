import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { OnlyJson } from "./json-check.ts";
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
  readonly description?: string;
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
}

/** Passed to the function of `task.step`. */
export interface StepContext {
  /** An idempotency key: the same for every attempt of this step. Pass it to the services that the step calls. */
  readonly key: string;
  /** Attempt of the run, starting at 1. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export interface AskOptions<Schema extends StandardSchemaV1 | undefined = undefined> {
  /** Validates the answer. After an invalid answer the question is asked again with the validation errors. */
  readonly schema?: Schema;
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

/** Writes to the log of the server, with the task's id. */
export interface TaskLog {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** The task that the author's function works on. `Input` is the output type of the skill's schema. */
export interface TaskContext<Input = JsonValue | undefined> {
  readonly id: string;
  readonly contextId: string;
  /** The message that started this turn. The same in a replay. */
  readonly message: Message;
  /** The text of that message. */
  readonly text: string;
  /** The data of that message: the validated input of the skill, or the first data part. */
  readonly data: Input;
  readonly files: readonly ReceivedFile[];
  /** All messages of the task so far, oldest first. */
  readonly history: readonly Message[];
  /** The artifacts from earlier turns. */
  readonly artifacts: readonly Artifact[];
  readonly caller: Principal;
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
  readonly log: TaskLog;

  /** Sets the status message of the working task, for people. */
  status(message?: string | Part | readonly Part[], metadata?: JsonObject): Promise<void>;
  /**
   * Sets metadata of the task, such as usage or results. Gets and lists show it after the next commit; the last status event contains it. Keys are
   * merged with earlier calls; `null` or `undefined` removes a key. Rejects with `metadata-too-large` over 16 KB of JSON in total.
   */
  setMetadata(metadata: Readonly<Record<string, JsonValue | undefined>>): Promise<void>;
  /** A writer for the artifact with this name. The same name is the same artifact, in every attempt. */
  artifact(name: string, options?: ArtifactOptions): ArtifactWriter;
  /**
   * Runs `work` and stores its result: after a restart the stored result is returned, and `work` does not run again. The result must be plain JSON.
   * The compiler rejects a Map, a Date, bytes or a class instance if it can see the type; otherwise the task fails with `step-not-json`.
   */
  step<T>(name: string, work: (step: StepContext) => (T | Promise<T>) & OnlyJson<T>): Promise<T>;
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
