import {
  type Agent,
  type AgentDefinition,
  agent,
  type CallResult,
  type CallTarget,
  type Output,
  type TaskContext,
} from "../engine/agent/agent.ts";

/** How a team works on a message. */
export type TeamPattern =
  /** Picks one agent and calls it. */
  | { readonly pattern: "router"; readonly pick: (task: TaskContext) => string | Promise<string> }
  /** Calls one after the other, each with the result of the one before. */
  | { readonly pattern: "pipeline" }
  /** Calls all at once, then merges the results. Default: their texts, below each other. */
  | {
      readonly pattern: "parallel";
      readonly merge?: (results: ReadonlyMap<string, CallResult>, task: TaskContext) => Output | Promise<Output>;
    };

/** A team: an agent that calls other agents. */
export type TeamOptions = Omit<AgentDefinition, "run" | "reply"> & {
  /** The members by name, in the order of a pipeline. */
  readonly agents: Readonly<Record<string, CallTarget>>;
} & TeamPattern;

/**
 * Declares an agent that lets other agents do the work, in one of three patterns. It is built on `task.call` alone: for anything else, write a `run` with a few
 * calls. Throws a `TypeError` if the team has no members.
 */
export function team(options: TeamOptions): Agent {
  const { agents, pattern, ...definition } = options;
  const members = Object.entries(agents);
  if (members.length === 0) throw new TypeError("team(): give it at least one agent.");
  return agent({ ...withoutPattern(definition), run: (task: TaskContext) => PATTERNS[pattern](task, options) });
}

function withoutPattern<T extends object>(definition: T): Omit<T, "pick" | "merge"> {
  const { pick: _pick, merge: _merge, ...rest } = definition as T & { pick?: unknown; merge?: unknown };
  return rest;
}

const PATTERNS: Readonly<Record<TeamPattern["pattern"], (task: TaskContext, options: TeamOptions) => Promise<Output>>> =
  {
    router: async (task, options) => {
      const { agents } = options;
      const name = options.pattern === "router" ? await task.step("pick", () => pickOf(options, task)) : "";
      const member = Object.hasOwn(agents, name) ? agents[name] : undefined;
      if (member === undefined)
        throw new TypeError(`The team has no agent ${JSON.stringify(name)}; it has ${Object.keys(agents).join(", ")}.`);
      return (await task.call(member, task.message.parts, { name })).parts;
    },
    pipeline: async (task, { agents }) => {
      let parts = task.message.parts;
      for (const [name, member] of Object.entries(agents)) ({ parts } = await task.call(member, parts, { name }));
      return parts;
    },
    parallel: async (task, options) => {
      const calls = Object.entries(options.agents).map(
        async ([name, member]) => [name, await task.call(member, task.message.parts, { name })] as const,
      );
      const results = new Map(await Promise.all(calls));
      const merge = options.pattern === "parallel" ? options.merge : undefined;
      if (merge !== undefined) return merge(results, task);
      return [...results.values()].map(({ text }) => text).join("\n\n");
    },
  };

async function pickOf(options: TeamOptions, task: TaskContext): Promise<string> {
  return options.pattern === "router" ? options.pick(task) : "";
}
