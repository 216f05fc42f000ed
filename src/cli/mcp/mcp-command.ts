import { Command } from "commander";
import { StartupError } from "../../platform/startup-error.ts";

const EXAMPLES = `
Each agent, or each of its skills, is a tool. Agents of every A2A version work. There are two more tools, for agents that the client names by URL:
discover_agent and invoke_remote_agent. Needs the package @modelcontextprotocol/server.

Examples:
  palaver mcp https://agents.example.org
  palaver mcp http://127.0.0.1:3000/agents/booking https://agents.example.org --bearer "$TOKEN"
  palaver mcp                       only the tools that take a URL

In the configuration of an MCP client:
  { "mcpServers": { "agents": { "command": "npx", "args":
    ["-y", "-p", "palaver", "-p", "@modelcontextprotocol/server", "palaver", "mcp", "https://agents.example.org"] } } }

Environment:
  LOG_LEVEL           how much to log on standard error (default warn)
`;

type Agent = Awaited<ReturnType<typeof import("../../adapters/remote/remote-agent.ts").remoteAgent>>;

interface Flags {
  readonly bearer?: string;
  readonly apiKey?: string;
  readonly store: string;
}

/** `palaver mcp [URL…]`: remote agents as tools of an MCP client that starts this program (stdio). */
export function mcpCommand(): Command {
  return new Command("mcp")
    .description("Serve remote agents as tools to an MCP client, over standard input and output.")
    .argument("[urls...]", "URLs of agents or of their cards")
    .option("--bearer <token>", "bearer token for the agents")
    .option("--api-key <key>", "API key for the agents")
    .option(
      "--store <store>",
      "where calls that are under way are stored: memory: or sqlite:FILE, to continue after a restart",
      "memory:",
    )
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", EXAMPLES)
    .action(serveTools);
}

async function serveTools(urls: readonly string[], { bearer, apiKey, store }: Flags): Promise<void> {
  // Loaded here, so that other commands start without the server.
  const [{ serveMcp }, { createLogger, logLevelFrom }] = await Promise.all([
    import("../../platform/serve-mcp.ts"),
    import("../../platform/create-logger.ts"),
  ]);
  const level = process.env["LOG_LEVEL"] === undefined ? "warn" : logLevelFrom();
  const logger = createLogger({ level, pretty: process.stderr.isTTY });
  const credentials = { ...(bearer !== undefined && { bearer }), ...(apiKey !== undefined && { apiKey }) };
  const agents = await remoteAgents(urls, { credentials, warn: (message) => logger.warn(message) });
  await serveMcp(agents, { store, logger });
}

interface RemoteOptions {
  readonly credentials: { readonly bearer?: string; readonly apiKey?: string };
  readonly warn: (message: string) => void;
}

/** The agents that can be reached; a warning for each other. Throws a `StartupError` if there are URLs and none can be reached. */
async function remoteAgents(urls: readonly string[], { credentials, warn }: RemoteOptions): Promise<readonly Agent[]> {
  if (urls.length === 0) return [];
  const { remoteAgent } = await import("../../adapters/remote/remote-agent.ts");
  const known = Object.keys(credentials).length > 0;
  const results = await Promise.allSettled(urls.map((url) => remoteAgent(url, known ? { credentials } : {})));
  const agents: Agent[] = [];
  const problems: string[] = [];
  for (const [index, result] of results.entries()) {
    if (result.status === "fulfilled") agents.push(withOwnId(result.value, agents));
    else problems.push(`No agent was found at ${urls[index]}: ${messageOf(result.reason)}`);
  }
  if (agents.length === 0) throw new StartupError("failed", problems.join("\n"));
  for (const problem of problems) warn(problem);
  return agents;
}

/** Two servers may have agents with the same id. */
function withOwnId(agent: Agent, others: readonly Agent[]): Agent {
  const isTaken = (id: string): boolean => others.some((other) => other.id === id);
  if (!isTaken(agent.id)) return agent;
  for (let number = 2; ; number += 1) {
    const id = `${agent.id}-${number}`;
    if (!isTaken(id)) return { ...agent, id };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
