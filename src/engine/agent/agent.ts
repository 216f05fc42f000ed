import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import type {
  AgentCapabilities,
  AgentExtension,
  AgentProvider,
  AgentSkill,
  SecurityRequirement,
  SecurityScheme,
} from "../../protocol/card.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { Principal } from "../../protocol/principal.ts";
import { type CardPromises, type DeclaredCard, declaredBy } from "./declared-card.ts";
import { definitionProblems } from "./definition-problems.ts";
import type { OnlyJson, OnlyOutput } from "./json-check.ts";

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
export type RunResult<Produced = Output> =
  | Promise<Produced | void>
  | AsyncIterable<Produced, void>
  | ObservableLike<Produced>
  | Promise<AsyncIterable<Produced, void> | ObservableLike<Produced>>;

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

/** What `reply` and `route` know of the call. */
export interface ReplyCall {
  readonly caller: Principal;
  readonly tenant: string;
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  /** URIs of the extensions in force for this call: asked for and declared. */
  readonly extensions: readonly string[];
  /** The agents that the message has passed, this one last: as `TaskContext.callPath`. */
  readonly callPath: readonly string[];
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

/** `Produced` is what `run` yields or returns: any {@link Output}, or an object of an interface that JSON carries. */
export interface AgentDefinition<Produced = unknown> {
  /** Where it is served: `/agents/{id}/`. Default: made from the name. */
  readonly id?: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills?: readonly Skill[];
  /** Where several agents are served, the first that has one is who is called in the plain dialect, which names none. */
  readonly defaultProjectId?: string;
  run?(task: TaskContext): RunResult<Produced> & OnlyOutput<Produced>;
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
  readonly capabilities?: DeclaredCapabilities;
  /**
   * How callers may say who they are, by a name of your own. The server's `authenticate` must keep to it. Where the server has `security`, its
   * schemes are declared by every card, and need not be repeated here.
   */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /**
   * What a call needs: any one of these, and of that one every scheme it names, with these scopes. Names may be of the server's schemes.
   * Default: what the server requires of all.
   */
  readonly security?: readonly SecurityRequirement[];
  /**
   * What authenticated callers see besides, put over the public declaration; or a function that says so for each of them, and
   * gives `undefined` to those for whom there is nothing more.
   */
  readonly extendedCard?:
    | ExtendedCard
    | ((caller: Principal) => ExtendedCard | undefined | Promise<ExtendedCard | undefined>);

  /** Default `resume`. */
  readonly onRestart?: RestartPolicy;
  /**
   * How many starts of a turn, one after the other, may end in a crash of the process with nothing new stored (no event, step or answer) before the
   * task fails with `attempts-exhausted`. Starts that ended in good order or lost the store do not count, nor do those beside other tasks, whose fault
   * it may be. A whole number of at least 1. Default 3. Whatever was stored, a turn fails after 100 crashes.
   */
  readonly maxAttempts?: number;
  /**
   * What happens to a task that is canceled while its run is not there, being parked or its process gone: it ends at once (default), or
   * the run is started once more, its `signal` aborted from the first, to undo elsewhere what it remembers.
   */
  readonly onCancel?: "end" | "resume";
  /** Milliseconds a task may work; time spent waiting for the caller does not count. Default one hour. */
  readonly timeout?: number;
  /** Off unless set. */
  readonly inputTimeout?: number | InputTimeout;
  /** Runs at a time. Default 1000. */
  readonly concurrency?: number;
  /** Tasks that may wait for a run. Default 10000. Over it callers get `resource-exhausted`. */
  readonly queue?: number;
}

/** What an agent says it can do. The server refuses to serve one that says what is not so. Streaming is on unless declared otherwise. */
export type DeclaredCapabilities = Omit<AgentCapabilities, "extensions">;

/** The part of a definition that an extended card may say otherwise. */
export type ExtendedCard = Partial<
  Pick<
    AgentDefinition,
    | "name"
    | "description"
    | "version"
    | "skills"
    | "provider"
    | "iconUrl"
    | "documentationUrl"
    | "inputModes"
    | "outputModes"
    | "extensions"
    | "securitySchemes"
    | "security"
  >
>;

/** A definition that takes from an agent card what it does not say itself: the path or URL of a JSON file, or the card. */
export type CardDefinition<Produced = unknown> = Omit<AgentDefinition<Produced>, "name" | "description" | "version"> &
  Partial<Pick<AgentDefinition, "name" | "description" | "version">> & { readonly card: string | URL | DeclaredCard };

/** A declared agent, ready to be served. */
export interface Agent extends AgentDefinition {
  readonly id: string;
  /** What the card it was declared by promises of how it is served. */
  readonly promises?: CardPromises;
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

/** The agent was declared before: `agent({ ...other, name: "Another" })`. */
interface DeclaredBefore {
  readonly id: string;
}
interface HasReply {
  readonly reply: unknown;
}
interface HasSkills {
  readonly skills: readonly unknown[];
}
/** Every agent needs `run`, unless `reply` answers every message or its skills have a `run` of their own. */
interface HasRun {
  readonly run: unknown;
}
type Handler = DeclaredBefore | HasReply | HasSkills | HasRun;

/** Declares an agent. Throws a `TypeError` that says what is wrong with the declaration and how to fix it. */
export function agent<Produced>(definition: CardDefinition<Produced> & Handler): Agent;
export function agent<Produced>(definition: AgentDefinition<Produced> & Handler): Agent;
export function agent(declaration: Handler): Agent {
  // Safe: the signatures above take nothing else.
  const definition = withCard(declaration as unknown as AgentDefinition | CardDefinition);
  const id = definition.id ?? slug(definition.name);
  const problems = definitionProblems(definition, id);
  if (problems.length > 0) throw new TypeError(`agent(): ${problems.join(" ")}`);
  return { ...definition, id };
}

function withCard(declaration: AgentDefinition | CardDefinition): Omit<Agent, "id"> & { readonly id?: string } {
  if (!("card" in declaration)) return declaration;
  const { card, ...own } = declaration;
  const { definition, promises } = declaredBy(card);
  const capabilities = { ...definition.capabilities, ...own.capabilities };
  // Safe: what may still be missing is what the check that follows looks for.
  return { ...definition, ...own, capabilities, promises } as Omit<Agent, "id">;
}

function slug(name: unknown): string {
  return String(name)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 64);
}
