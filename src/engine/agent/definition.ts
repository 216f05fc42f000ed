import type { StandardSchemaV1 } from "@standard-schema/spec";
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
import type { Principal } from "../../protocol/principal.ts";
import type { CardPromises, DeclaredCard } from "./card-types.ts";
import type { OnlyOutput } from "./json-check.ts";
import type { Output, RunResult } from "./output-types.ts";
import type { TaskContext } from "./task-context.ts";

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
