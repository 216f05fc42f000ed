import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Logger } from "../../internal/logger.ts";
import type {
  AgentCapabilities,
  AgentExtension,
  AgentProvider,
  AgentSkill,
  SecurityRequirement,
  SecurityScheme,
} from "../../protocol/card.ts";
import type { CardPromises } from "../../protocol/card-promises.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { CallLimits } from "./call-types.ts";
import type { OnlyOutput } from "./json-check.ts";
import type { JsonSchemaSource } from "./json-schema.ts";
import type { Output, RunResult } from "./output-types.ts";
import type { TaskContext } from "./task-context.ts";

/** The call, as `reply` and `route` see it. */
export interface ReplyCall {
  /** The authenticated caller, or the anonymous one. */
  readonly caller: Principal;
  /** The tenant of the caller; empty without tenants. */
  readonly tenant: string;
  /** Metadata of the request. */
  readonly metadata: JsonObject;
  /** Media types that the caller accepts; empty: any. */
  readonly outputModes: readonly string[];
  /** URIs of the active extensions: declared by the agent and requested by this call. */
  readonly extensions: readonly string[];
  /** As `TaskContext.callPath`: the agents that the message passed through, this agent last. */
  readonly callPath: readonly string[];
  /** Aborts when the caller disconnects or the server shuts down. */
  readonly signal: AbortSignal;
}

/** A skill of an agent: what the card says about it (A2A 1.0 §4.4.5), its schema, and optionally a `run` function of its own. */
export interface Skill<Schema extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined> extends AgentSkill {
  /** Schema of the data (or the JSON text) of a message for this skill. */
  readonly input?: Schema;
  /** The JSON Schema of `input`, if its library does not support Standard JSON Schema. The card publishes it. */
  readonly jsonSchema?: JsonSchemaSource;
  /** Handles messages for this skill. Default: the agent's `run`. */
  run?(
    task: TaskContext<Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : JsonValue | undefined>,
  ): RunResult;
}

/** What happens to a task whose process died: `resume` replays its stored steps, `retry` runs it again without them, `fail` fails it. */
export type RestartPolicy = "resume" | "retry" | "fail";

/** How long a task waits for an answer, and what happens then. */
export interface InputTimeout {
  /** Milliseconds. */
  readonly ms: number;
  /** Fail the task, or let `ask` resolve with `undefined`. */
  readonly then: "fail" | "continue";
}

/** Declaration of an agent. `Produced` is the type that `run` yields or returns: any {@link Output}, or an object that JSON can represent. */
export interface AgentDefinition<Produced = unknown> {
  /** Part of the agent's URL: `/agents/{id}/`. Default: derived from the name. */
  readonly id?: string;
  /** The name of the agent, for people and for other agents. */
  readonly name: string;
  /** What the agent does, for people and for other agents that choose one. */
  readonly description: string;
  /** The version of the agent, not of the protocol. */
  readonly version: string;
  /** What the agent can do, for the card; a skill may validate its input and have a `run` of its own. */
  readonly skills?: readonly Skill[];
  /** The plain dialect does not name an agent: if several are served, it calls the first one with this member. */
  readonly defaultProjectId?: string;
  /**
   * Does the work of a task. Called once for each turn, and again after a crash or after parking. What it yields or returns is written to the
   * artifact `result`.
   */
  run?(task: TaskContext): RunResult<Produced> & OnlyOutput<Produced>;
  /** Answers with a message instead of a task. Return `undefined` to create a task and call `run`. */
  reply?(message: Message, call: ReplyCall): Output | undefined | Promise<Output | undefined>;
  /** Returns the id of the skill for a message, if neither its metadata nor the schemas decide. */
  route?(message: Message, call: ReplyCall): string | undefined | Promise<string | undefined>;

  /** The organization that offers the agent. */
  readonly provider?: AgentProvider;
  /** An image for people. */
  readonly iconUrl?: string;
  /** A page for people. */
  readonly documentationUrl?: string;
  /** Media types that the agent accepts, with wildcards. Other content is refused, unless a skill declares it. Default: anything is accepted. */
  readonly inputModes?: readonly string[];
  /** Media types that the agent produces. Callers that accept none of them are refused. Default: plain text and JSON. */
  readonly outputModes?: readonly string[];
  /** Protocol extensions that the agent supports. A `required` one must be named by every request. */
  readonly extensions?: readonly AgentExtension[];
  /** Turns off streaming or push notifications for this agent. Default: what the server supports. */
  readonly capabilities?: DeclaredCapabilities;
  /**
   * Security schemes by a name of your choice. The card only announces them: your `authenticate` must enforce them. The schemes of the server option
   * `security` are part of every card and need not be repeated here.
   */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /**
   * Alternatives: a call must satisfy one of these requirements, with all its schemes and scopes. They may use the schemes of the server. Default:
   * the requirements of the server.
   */
  readonly security?: readonly SecurityRequirement[];
  /**
   * Members that replace those of the public card for authenticated callers; or a function that returns them for a caller, and `undefined` for
   * callers without an extended card.
   */
  readonly extendedCard?:
    | ExtendedCard
    | ((caller: Principal) => ExtendedCard | undefined | Promise<ExtendedCard | undefined>);

  /** What happens after a crash of the process. Default `resume`. */
  readonly onRestart?: RestartPolicy;
  /**
   * The task fails with `attempts-exhausted` after this many starts of a turn in a row that crashed the process and stored nothing new (no event, step
   * or answer). A start does not count if the process shut down normally, if the store was lost, or if other tasks were running, which may have
   * caused the crash. A whole number of at least 1. Default 3. A turn also fails after 100 crashes in total.
   */
  readonly maxAttempts?: number;
  /**
   * What a cancel does while the task has no run, because it is parked or its process is gone: `end` ends the task immediately (default); `resume`
   * starts the run again with an aborted `signal`, so that it can undo earlier steps.
   */
  readonly onCancel?: "end" | "resume";
  /** Milliseconds that a task may run; time spent sleeping or waiting for the caller does not count. Default 3600000 (one hour). */
  readonly timeout?: number;
  /** Default timeout of questions, in milliseconds. Default: no timeout. */
  readonly inputTimeout?: number | InputTimeout;
  /** Maximum number of concurrent runs. Default 1000. */
  readonly concurrency?: number;
  /** Limits of the calls of other agents (`task.call`). Where the server has a lower limit, that one counts. */
  readonly calls?: Partial<CallLimits>;
  /** Maximum number of tasks that wait for a slot. Over it callers get `resource-exhausted`. Default 10000. */
  readonly queue?: number;
}

/** Capabilities on the card. The server refuses to start with a capability that it does not provide. `streaming` is true by default. */
export type DeclaredCapabilities = Omit<AgentCapabilities, "extensions">;

/** The members of a definition that an extended card may replace. */
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

/** A declared agent, ready to be served. */
export interface Agent extends AgentDefinition {
  readonly id: string;
  /** Interfaces and signatures of the card it was declared by; the server checks that it can provide them. */
  readonly promises?: CardPromises;
  /** The agent runs programs on this machine. The server does not start if other machines could reach it without authentication. */
  readonly startsPrograms?: boolean;
  /**
   * For an agent whose skills change while it is served: a number that grows with each change of the list `skills`, which the agent changes in place. The
   * card is made again when the number has changed.
   */
  readonly cardRevision?: () => number;
  /** Called when the server starts, before it continues unfinished tasks. If it rejects, the server does not start. */
  open?(logger: Logger): Promise<void>;
  /** Called when the server stops, after its last run was released. */
  close?(): Promise<void>;
}
