import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../protocol/artifact.ts";
import type { AgentCapabilities, AgentExtension, AgentProvider, AgentSkill } from "../protocol/card.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { Part } from "../protocol/part.ts";
import type { Principal } from "../protocol/principal.ts";
import { type DeclaredCard, declaredBy } from "./declared-card.ts";

/** A file that came with a message. */
export interface ReceivedFile {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  /** The content, where it came inline. */
  readonly bytes: Uint8Array | undefined;
  /** Where it can be had, where it came by reference. */
  readonly url: string | undefined;
}

/** A file to send: bytes inline, or a URL. */
export type FileOutput = {
  readonly name?: string;
  readonly mediaType?: string;
} & ({ readonly bytes: Uint8Array; readonly url?: never } | { readonly url: string; readonly bytes?: never });

/** What an agent may produce: a text, a part, a list of parts, a file (`{ file }`), or any JSON value, which becomes a data part. */
export type Output = string | Part | readonly Part[] | { readonly file: FileOutput } | JsonValue;

/** What a run may yield or return. A function may return nothing, having written its artifacts itself. */
export type RunResult =
  | Promise<Output | void>
  | AsyncIterable<Output, void>
  | ObservableLike<Output>
  | Promise<AsyncIterable<Output, void> | ObservableLike<Output>>;

/** The part of an Observable that is used here (RxJS and its likes). */
export interface ObservableLike<T> {
  subscribe(observer: { next(value: T): void; error(reason: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}

/** Writes one artifact. */
export interface ArtifactWriter {
  /** Adds to the artifact. Resolves once the chunk is in line; waits only while too much is uncommitted. */
  write(output: Output): Promise<void>;
  /** Completes the artifact, with a last chunk if one is given. */
  end(output?: Output): Promise<void>;
}

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
  /** The skill this turn was routed to, where the agent has skills of its own handler. */
  readonly skillId: string | undefined;
  /** 1, and one more for each start after a crash or a parked wait. */
  readonly attempt: number;
  /** Aborts on cancel, deadline, shutdown, lost lease and parking; `signal.reason` is a {@link TaskAborted}. */
  readonly signal: AbortSignal;
  readonly log: TaskLog;

  /** Tells people what is going on. */
  status(message?: string | Part | readonly Part[], metadata?: JsonObject): Promise<void>;
  /** The artifact of that name: same name, same artifact, in every attempt. */
  artifact(name: string, options?: ArtifactOptions): ArtifactWriter;
  /** Does something once: after a crash its result is returned, not computed again. The result must be JSON. */
  step<T>(name: string, work: (step: StepContext) => T | Promise<T>): Promise<T>;
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
  /** The next message that arrived meanwhile; waits for one, unless told not to. */
  next(options: { readonly wait: false }): Promise<Message | undefined>;
  next(options?: { readonly wait?: true }): Promise<Message>;
  /** Says that the caller must authorise something. Resolves with the caller's next message, or when `until` does. */
  requireAuth(
    explanation: string | Part | readonly Part[],
    options?: { readonly until?: (signal: AbortSignal) => Promise<unknown> },
  ): Promise<Message | undefined>;
  /** Refuses the task. */
  reject(reason: string): never;
  /** Resolves when everything written so far is committed. */
  flush(): Promise<void>;
}

export type RunFunction<Input = JsonValue | undefined> = (task: TaskContext<Input>) => RunResult;

/** What `reply` and `route` know of the call. */
export interface ReplyCall {
  readonly caller: Principal;
  readonly tenant: string;
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  readonly signal: AbortSignal;
}

export interface Skill<Schema extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined> extends AgentSkill {
  /** What a message for this skill must carry as data (or as JSON text). */
  readonly input?: Schema;
  /** Handles this skill; without it the agent's `run` does. */
  run?(
    task: TaskContext<Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : JsonValue | undefined>,
  ): RunResult;
}

/** Declares a skill with its own handler, so that `task.data` has the type of its schema. */
export function skill<const Schema extends StandardSchemaV1 | undefined = undefined>(
  definition: Skill<Schema>,
): Skill<Schema> {
  return definition;
}

/** What happens to a task whose process died: run again with what it remembers, run again from nothing, or fail. */
export type RestartPolicy = "resume" | "retry" | "fail";

export interface InputTimeout {
  readonly ms: number;
  readonly then: "fail" | "continue";
}

export interface AgentDefinition {
  /** Where it is served: `/agents/{id}/`. Default: made from the name. */
  readonly id?: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills?: readonly Skill[];
  run?(task: TaskContext): RunResult;
  /** Answers at once with a message and no task; `undefined` hands over to `run`. */
  reply?(message: Message, call: ReplyCall): Output | undefined | Promise<Output | undefined>;
  /** Picks the skill (by id) where neither the message nor the schemas decide. */
  route?(message: Message, call: ReplyCall): string | undefined | Promise<string | undefined>;

  readonly provider?: AgentProvider;
  readonly iconUrl?: string;
  readonly documentationUrl?: string;
  /** The media types it reads, wildcards included. Declared ones bind, together with its skills'; an agent that declares none reads anything. */
  readonly inputModes?: readonly string[];
  /** The media types it produces. Default: plain text and JSON. Callers that accept none of them are refused. */
  readonly outputModes?: readonly string[];
  readonly extensions?: readonly AgentExtension[];
  readonly capabilities?: Pick<AgentCapabilities, "streaming">;
  /** What authenticated callers see besides, merged over the public declaration. */
  readonly extendedCard?: Partial<Pick<AgentDefinition, "name" | "description" | "version" | "skills">>;

  /** Default `resume`. */
  readonly onRestart?: RestartPolicy;
  /** Milliseconds a task may work; time spent waiting for the caller does not count. Default one hour. */
  readonly timeout?: number;
  /** Off unless set. */
  readonly inputTimeout?: number | InputTimeout;
  /** Runs at a time. Default 1000. */
  readonly concurrency?: number;
  /** Tasks that may wait for a run. Default 10000. Over it callers get `resource-exhausted`. */
  readonly queue?: number;
}

/** A definition that takes from an agent card what it does not say itself: the path or URL of a JSON file, or the card. */
export type CardDefinition = Omit<AgentDefinition, "name" | "description" | "version"> &
  Partial<Pick<AgentDefinition, "name" | "description" | "version">> & { readonly card: string | URL | DeclaredCard };

/** A declared agent, ready to be served. */
export interface Agent extends AgentDefinition {
  readonly id: string;
}

/** Why `task.signal` aborted. */
export type AbortCause = "canceled" | "timeout" | "shutdown" | "lease-lost" | "parked" | "store-unavailable";

export class TaskAborted extends Error {
  override readonly name = "TaskAborted";
  readonly reason: AbortCause;

  constructor(reason: AbortCause, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Declares an agent. Checks at once what can be checked, and says what to mend. */
export function agent(definition: CardDefinition): Agent;
export function agent(definition: AgentDefinition): Agent;
export function agent(declaration: AgentDefinition | CardDefinition): Agent {
  const definition = withCard(declaration);
  const problems = problemsOf(definition);
  if (problems.length > 0) throw new TypeError(`agent(): ${problems.join(" ")}`);
  return { ...definition, id: definition.id ?? slug(definition.name) };
}

function withCard(declaration: AgentDefinition | CardDefinition): AgentDefinition {
  if (!("card" in declaration)) return declaration;
  const { card, ...own } = declaration;
  // Safe: what may still be missing is what the check that follows looks for.
  return { ...declaredBy(card), ...own } as AgentDefinition;
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function problemsOf(definition: AgentDefinition): string[] {
  const problems: string[] = [];
  for (const field of ["name", "description", "version"] as const) {
    if (typeof definition[field] !== "string" || definition[field].trim() === "") {
      problems.push(`\`${field}\` must be a non-empty string.`);
    }
  }
  if (problems.length > 0) return problems;
  const id = definition.id ?? slug(definition.name);
  if (!ID.test(id))
    problems.push(`\`id\` ${JSON.stringify(id)} must be 1–64 letters, digits, dots, dashes or underscores.`);
  // A card from a file may hold anything, whatever its type says.
  const listed: unknown = definition.skills ?? [];
  if (!Array.isArray(listed)) return [...problems, "`skills` must be a list."];
  const skills = definition.skills ?? [];
  const handled = skills.length > 0 && skills.every((skill) => skill.run !== undefined);
  if (definition.run === undefined && definition.reply === undefined && !handled) {
    problems.push("give it a `run(task)`, a `reply(message)`, or skills that each have their own `run`.");
  }
  const seen = new Set<string>();
  for (const [index, skill] of skills.entries()) {
    if (!skill.id) problems.push(`\`skills[${index}].id\` must be a non-empty string.`);
    else if (seen.has(skill.id)) problems.push(`\`skills[${index}].id\` ${JSON.stringify(skill.id)} is there twice.`);
    seen.add(skill.id);
  }
  for (const [field, least] of [
    ["timeout", 0],
    ["queue", 0],
    ["concurrency", 1],
  ] as const) {
    const value = definition[field];
    if (value !== undefined && !(value >= least)) problems.push(`\`${field}\` must be a number of at least ${least}.`);
  }
  return problems;
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 64);
}
