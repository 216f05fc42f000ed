import type { Agent } from "palaver";
import { mcpAgent } from "palaver/mcp";

/** An agent with the tools of the MCP server at a URL or, without one, of the program `tools.ts`. */
export function createAgent(url?: string): Promise<Agent> {
  if (url !== undefined) return mcpAgent({ url });
  return mcpAgent({ command: process.execPath, args: ["tools.ts"], cwd: import.meta.dirname });
}
