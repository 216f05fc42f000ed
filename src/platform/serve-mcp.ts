import { type Agent, agent } from "../engine/agent/agent.ts";
import { createLogger, logLevelFrom } from "./create-logger.ts";
import { urlToolsBy } from "./mcp-face.ts";
import { type ServerOptions, settingsFrom } from "./settings/settings.ts";
import { startServer } from "./start-server.ts";
import { packageVersion } from "./version.ts";

/** Options of `serveMcp`. */
export type ServeMcpOptions = Pick<ServerOptions, "store" | "mcp" | "logger">;

/**
 * Serves agents as tools to one MCP client on the standard input and output of this process, until the client closes the input. Besides them there are the
 * tools that call agents by their URLs. Rejects with a `StartupError`, or with `unavailable` if the package for MCP is not installed.
 */
export async function serveMcp(agents: readonly Agent[], options: ServeMcpOptions): Promise<void> {
  const serverOptions: ServerOptions = { ...options, push: false, metrics: false, operator: false, console: false };
  const settings = settingsFrom(serverOptions);
  const logger = options.logger ?? createLogger({ level: logLevelFrom(), pretty: process.stderr.isTTY });
  const started = await startServer({
    agents: agents.length === 0 ? [noAgent()] : agents,
    options: serverOptions,
    settings,
    security: undefined,
    publicUrl: "http://localhost",
    logger,
  });
  try {
    if (started.mcp === undefined) throw new TypeError("serveMcp(): mcp must not be false.");
    const connection = started.http.mcpConnection(
      { ...started.mcp, urlTools: urlToolsBy({}) },
      agents.map(({ id }) => id),
    );
    const { closed, close } = await connection.serveStdio();
    await closed;
    await close();
  } finally {
    await started.drain(0);
    await started.close();
  }
}

/** A server needs an agent. This one is no tool. */
function noAgent(): Agent {
  return agent({
    id: "none",
    name: "None",
    description: "Not served.",
    version: packageVersion(),
    run: async () => undefined,
  });
}
