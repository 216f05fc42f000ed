import type { DescribedTool } from "../internal/tool-skill.ts";
import type { A2AProtocolExtension } from "./types.ts";

/** A tool as an MCP server lists it. Other members are ignored. */
export type McpToolDeclaration = DescribedTool;

/** The program whose tools are registered, for its card. */
export interface McpInstance {
  /** Default `Palaver`. */
  readonly name?: string;
  /** Default: a sentence about its tools. */
  readonly description?: string;
  /** Default `0.0.0`. */
  readonly version?: string;
  /** Names of the tools of agents without `mcpToolPermissions`. Default: all. */
  readonly defaultTools?: readonly string[];
  /** Protocols beyond A2A that the program speaks. Default: none. */
  readonly supportedProtocols?: readonly A2AProtocolExtension[];
}

/** All registered tools, and what is known of their program. */
export interface Registration {
  readonly tools: ReadonlyMap<string, McpToolDeclaration>;
  readonly instance: McpInstance;
}

let registered: { tools: Map<string, McpToolDeclaration>; instance: McpInstance } = { tools: new Map(), instance: {} };

/**
 * Registers MCP tools, which `buildAgentCard` and `buildAgentCardForAgent` list as skills. May be called repeatedly: tools and members of the instance are added, later
 * ones win. Returns a function that removes these tools again.
 */
export function registerMcpTools(tools: readonly McpToolDeclaration[], instance: McpInstance = {}): () => void {
  for (const tool of tools) registered.tools.set(tool.name, tool);
  registered.instance = { ...registered.instance, ...instance };
  return () => {
    for (const tool of tools) {
      if (registered.tools.get(tool.name) === tool) registered.tools.delete(tool.name);
    }
  };
}

/** Removes all registered tools, and what is known of their program. */
export function clearMcpTools(): void {
  registered = { tools: new Map(), instance: {} };
}

export function registeredTools(): Registration {
  return registered;
}
