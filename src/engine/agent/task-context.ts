import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { OnlyJson } from "./json-check.ts";
import type { Output, ReceivedFile, RunResult } from "./output-types.ts";

/** Writes one artifact. */
export interface ArtifactWriter {
  /** Adds to the artifact. Resolves once the chunk is in line; waits only while too much is uncommitted. */
  write(output: Output): Promise<void>;
  /** Puts this in the place of all that the artifact holds. What is written later is added to it. */
  replace(output: Output): Promise<void>;
  /** Completes the artifact, with a last chunk if one is given. */
  end(output?: Output): Promise<void>;
}

/** Options that are given again, or for the first time, with a later write replace what the artifact had of them. */
export interface ArtifactOptions {
  readonly description?: string;
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
}

export interface StepContext {
  /** The same for every try of this step: pass it downstream so that work done twice counts once. */
  readonly key: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export interface AskOptions<Schema extends StandardSchemaV1 | undefined = undefined> {
  /** Checks the answer; a wrong one is asked again, saying what was wrong. */
  readonly schema?: Schema;
  /** The answer is kept only for replay, encrypted: never in history, events or logs. */
  readonly sensitive?: boolean;
  /** Milliseconds to wait. Overrides the agent's `inputTimeout`. */
  readonly timeout?: number;
  /** When nobody answers in time: fail the task (default), or go on with `undefined`. */
  readonly onTimeout?: "fail" | "continue";
  /** Tells questions apart in a replay. Default: the question itself. */
  readonly name?: string;
  /** The caller is to use a tool of its own and to answer with what that gave. */
  readonly tool?: { readonly name: string; readonly input?: JsonValue };
}

export interface AuthOptions {
  /** Any one will do: names of schemes the caller knows, from the card say, or schemes in the form of a card. */
  readonly schemes?: readonly (string | JsonObject)[];
  /** What is needed, for whoever reads the data and not the text. */
  readonly description?: string;
  /**
   * The caller is to hand back a secret. It may encrypt it to a key that is made for this request; either way it is kept only for replay,
   * encrypted: never in history, events or logs.
   */
  readonly secret?: boolean;
  /** Resolves when the authorisation was given in some other way; rejects when it was refused. Called anew by each attempt. */
  readonly until?: (signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds to wait; then the task fails. Default: for ever. */
  readonly timeout?: number;
  /** Tells requests apart in a replay. Default: their text. */
  readonly name?: string;
}

/** Something the caller must authorise. */
export interface AuthRequest extends AuthOptions {
  /** For people: what it is for, and what to do. */
  readonly message: string | Part | readonly Part[];
}

export type Answer<Schema extends StandardSchemaV1 | undefined> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : string;

export interface TaskLog {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** One task, as the author's function sees it. `Input` is the type of the skill's schema, where it has one. */
export interface TaskContext<Input = JsonValue | undefined> {
  readonly id: string;
  readonly contextId: string;
  /** The message that started this turn; also in a replay. */
  readonly message: Message;
  /** The text of that message. */
  readonly text: string;
  /** The data of that message: the skill's validated input, else the first data part. */
  readonly data: Input;
  readonly files: readonly ReceivedFile[];
  /** All messages of the task so far, oldest first. */
  readonly history: readonly Message[];
  /** What the task has produced before this turn. */
  readonly artifacts: readonly Artifact[];
  readonly caller: Principal;
  readonly tenant: string;
  /** The metadata of the request that made the task. */
  readonly metadata: JsonObject;
  /** The media types the caller accepts; empty: any. */
  readonly outputModes: readonly string[];
  /** URIs of the extensions in force: those the agent declares, as far as the request that made the task asked for them. */
  readonly extensions: readonly string[];
  /**
   * The agents that the task's messages have passed, this one last. Pass it as `callPath` to every call of another agent that is made
   * for this task, so that agents that call each other in a circle are stopped.
   */
  readonly callPath: readonly string[];
  /** The skill this turn was routed to, where the agent has skills of its own handler. */
  readonly skillId: string | undefined;
  /** 1, and one more for each start after a crash or a parked wait. */
  readonly attempt: number;
  /** Aborts on cancel, deadline, shutdown, lost lease and parking; `signal.reason` is a {@link TaskAborted}. */
  readonly signal: AbortSignal;
  readonly log: TaskLog;

  /** Tells people what is going on. */
  status(message?: string | Part | readonly Part[], metadata?: JsonObject): Promise<void>;
  /**
   * Sets metadata of the task, such as usage or results: shown by gets and lists after the next commit, and in the task's last status event. Merged key by
   * key with what was set before; `null` or `undefined` removes a key. At most 16 KB of JSON in all, else it rejects with `metadata-too-large`.
   */
  setMetadata(metadata: Readonly<Record<string, JsonValue | undefined>>): Promise<void>;
  /** The artifact of that name: same name, same artifact, in every attempt. */
  artifact(name: string, options?: ArtifactOptions): ArtifactWriter;
  /**
   * Does something once: after a crash its result is returned, not computed again. The result must be plain JSON: a Map, a Date, bytes or a
   * class instance is refused by the compiler where it can tell, and fails the task with `step-not-json` where it cannot.
   */
  step<T>(name: string, work: (step: StepContext) => (T | Promise<T>) & OnlyJson<T>): Promise<T>;
  /** Waits, through restarts if need be. */
  sleep(milliseconds: number, options?: { readonly name?: string }): Promise<void>;
  /** Asks the caller and waits for the answer, through restarts if need be. */
  ask<const Schema extends StandardSchemaV1 | undefined = undefined>(
    question: string | Part | readonly Part[],
    options: AskOptions<Schema> & { readonly onTimeout: "continue" },
  ): Promise<Answer<Schema> | undefined>;
  ask<const Schema extends StandardSchemaV1 | undefined = undefined>(
    question: string | Part | readonly Part[],
    options?: AskOptions<Schema>,
  ): Promise<Answer<Schema>>;
  /**
   * The next message that arrived meanwhile; waits for one, unless told not to. With a `signal` it waits until that aborts, and
   * then gives `undefined`. `name` tells messages of different places apart in a replay.
   */
  next(options: { readonly wait: false; readonly name?: string }): Promise<Message | undefined>;
  next(options: { readonly signal: AbortSignal; readonly name?: string }): Promise<Message | undefined>;
  next(options?: { readonly wait?: true; readonly name?: string }): Promise<Message>;
  /**
   * Says what the caller must authorise and waits, through restarts if need be. Resolves with the caller's next message, or with nothing
   * once `until` has resolved. With `secret` it resolves with the secret the caller hands back.
   */
  requireAuth(request: AuthRequest & { readonly secret: true; readonly until?: never }): Promise<string>;
  requireAuth(request: AuthRequest & { readonly secret: true }): Promise<string | undefined>;
  requireAuth(request: AuthRequest): Promise<Message | undefined>;
  /** The same in words alone. */
  requireAuth(
    explanation: string | Part | readonly Part[],
    options?: Pick<AuthOptions, "until" | "timeout" | "name">,
  ): Promise<Message | undefined>;
  /** Refuses the task. */
  reject(reason: string): never;
  /** Resolves when everything written so far is committed. */
  flush(): Promise<void>;
}

export type RunFunction<Input = JsonValue | undefined> = (task: TaskContext<Input>) => RunResult;
