import type { Command } from "commander";
import type { mcpAgent } from "../../adapters/mcp/mcp-agent.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { splitShellWords } from "../shell-words.ts";

/** The option of `palaver serve` that makes the tools of MCP servers agents. */
export interface McpFlags {
  readonly mcp?: readonly string[];
}

export function addMcpOption(command: Command): void {
  command.option(
    "--mcp <url|command>",
    "serve the tools of an MCP server as an agent: its address, or a command that speaks MCP; may be repeated",
    (value: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), value],
  );
}

/** The agents of `--mcp`. Rejects with a {@link StartupError} if a server cannot be used; those that were opened before are closed. */
export async function mcpAgents({ mcp = [] }: McpFlags): Promise<readonly Awaited<ReturnType<typeof mcpAgent>>[]> {
  if (mcp.length === 0) return [];
  // Loaded here, so that other commands start without it.
  const adapter = await import("../../adapters/mcp/mcp-agent.ts");
  const agents: Awaited<ReturnType<typeof mcpAgent>>[] = [];
  try {
    for (const address of mcp) agents.push(await adapter.mcpAgent(addressOf(address)));
    return agents;
  } catch (error) {
    for (const agent of agents) await agent.close?.();
    if (error instanceof StartupError) throw error;
    const message = error instanceof Error ? error.message.replace("mcpAgent(): ", "") : String(error);
    throw new StartupError("usage", `--mcp: ${message}`, { cause: error });
  }
}

function addressOf(
  text: string,
): { readonly url: string } | { readonly command: string; readonly args: readonly string[] } {
  if (/^https?:\/\//i.test(text)) return { url: text };
  const [command, ...args] = splitShellWords(text) ?? [];
  if (command === undefined)
    throw new StartupError("usage", `--mcp: ${JSON.stringify(text)} is empty, or a quote in it is not closed.`);
  return { command, args };
}
