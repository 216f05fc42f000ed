import type { TaskContext } from "../../engine/agent/agent.ts";
import type { Tool, ToolProvider, Tools } from "./tool.ts";

/** Which tools of a provider an agent uses, and how. */
export interface ToolFilter {
  /** Only these tools. Default: all. */
  readonly only?: readonly string[];
  /** Not these tools. */
  readonly except?: readonly string[];
  /** Put before each name, for example to tell the tools of two servers apart. */
  readonly prefix?: string;
  /** Whether the caller of this task may use the tool, by its name without the prefix. Tools that it may not use are hidden from the model. Default: all. */
  readonly permit?: (name: string, task: TaskContext) => boolean | Promise<boolean>;
  /** The caller must approve each call, by the name without the prefix. Default: as the tool declares. */
  readonly approve?: boolean | ((name: string, task: TaskContext) => boolean);
  /** Milliseconds after which a call fails. Default: as the tool declares. */
  readonly timeout?: number;
}

/** The tools of a provider, or tools by name, with a filter. */
export function filterTools(tools: Tools | ToolProvider, filter: ToolFilter): ToolProvider {
  const { only, except, prefix = "", permit, approve, timeout } = filter;
  return providerOf(tools, async (task) => {
    const found = typeof tools === "function" ? await tools(task) : tools;
    const kept: (readonly [string, Tool])[] = [];
    for (const [name, tool] of Object.entries(found)) {
      if (only?.includes(name) === false || except?.includes(name) === true) continue;
      if (permit !== undefined && !(await permit(name, task))) continue;
      const changed: Tool = {
        ...tool,
        ...(timeout !== undefined && { timeout }),
        ...(approve !== undefined && { approve: typeof approve === "function" ? approve(name, task) : approve }),
      };
      kept.push([prefix + name, changed]);
    }
    // Not by assignment: a server may call a tool `__proto__`.
    return Object.fromEntries(kept);
  });
}

/** All tools of one task. Throws a `TypeError` if two providers have a tool of the same name. */
export async function collectTools(
  providers: readonly (Tools | ToolProvider)[],
  task: TaskContext,
): Promise<ReadonlyMap<string, Tool>> {
  const lists = await Promise.all(
    providers.map(async (tools) => Object.entries(typeof tools === "function" ? await tools(task) : tools)),
  );
  const all = new Map<string, Tool>();
  for (const [name, tool] of lists.flat()) {
    if (all.has(name))
      throw new TypeError(
        `Two tools have the name ${JSON.stringify(name)}. Give one a prefix: filterTools(tools, { prefix }).`,
      );
    all.set(name, tool);
  }
  return all;
}

/** A provider that is closed with the one that it is made of. */
function providerOf(tools: Tools | ToolProvider, list: (task: TaskContext) => Promise<Tools>): ToolProvider {
  const close = typeof tools === "function" ? tools.close?.bind(tools) : undefined;
  return close === undefined ? list : Object.assign(list, { close });
}
