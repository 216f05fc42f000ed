import { type Agent, agent, type Skill } from "../../engine/agent/agent.ts";
import type { Logger } from "../../internal/logger.ts";
import { openConnection } from "./connections/mcp-connection.ts";
import { McpConnections } from "./connections/mcp-connections.ts";
import { LateLogger } from "./late-logger.ts";
import { type McpAgentOptions, mcpSettings } from "./mcp-agent-options.ts";
import { requireMcpClient } from "./mcp-client-package.ts";
import { McpServerError, mcpFailure } from "./mcp-failure.ts";
import { transportOpener } from "./open-transport.ts";
import { readLists } from "./read-lists.ts";
import { routeMessage } from "./route-message.ts";
import { runCall } from "./run-call.ts";
import { type ServerSkill, serverSkills } from "./server-skills.ts";

/**
 * Declares an agent whose skills are the tools of an MCP server, and its prompts and resources. The server is asked for them here, and again when it says that
 * they have changed. Rejects with a {@link McpServerError} if the server cannot be reached or two of its tools have the same name, with a `TypeError` for invalid
 * options, and with an `Error` if the package `@modelcontextprotocol/client` is not installed.
 */
export async function mcpAgent(options: McpAgentOptions): Promise<Agent> {
  requireMcpClient("Agents made of MCP servers");
  const settings = mcpSettings(options);
  const logger = new LateLogger();
  const opener = transportOpener(options, { maxMessage: settings.maxMessage, logger });
  const skills: Skill[] = [];
  const byId = new Map<string, ServerSkill>();
  let revision = 0;

  const connections: McpConnections = new McpConnections({
    open: () =>
      openConnection({
        openTransport: opener.open,
        connectTimeout: settings.connectTimeout,
        onListChanged: () => renewal.request(),
      }),
    max: settings.connections,
    onReopened: () => renewal.request(),
  });
  const read = async (): Promise<{
    readonly name: string;
    readonly version: string;
    readonly instructions: string;
  }> => {
    const lease = await connections.lease();
    try {
      const { client } = lease.connection;
      const found = serverSkills(await readLists(client, settings));
      for (const problem of found.warnings) logger.warn("A tool of an MCP server is left out", { problem });
      // In one turn, so that nobody sees half of the change.
      byId.clear();
      for (const one of found.skills) byId.set(one.skill.id, one);
      skills.splice(0, skills.length, ...found.skills.map(({ skill }) => skill));
      revision += 1;
      const { name = "", title, version = "" } = client.getServerVersion() ?? {};
      return { name: title ?? name, version, instructions: client.getInstructions() ?? "" };
    } finally {
      lease.release();
    }
  };
  const renewal = createRenewal(read, logger);
  const server = await read().catch(async (error: unknown) => {
    await connections.close();
    throw error instanceof McpServerError
      ? error
      : new McpServerError(
          "mcp-unavailable",
          `The MCP server ${opener.shown} cannot be used: ${wordsOf(error)}`,
          error,
        );
  });

  const name = options.name ?? (server.name || opener.shown);
  const declared = agent({
    ...identityOf(options),
    name,
    description: options.description ?? (server.instructions.slice(0, 2000) || `The tools of the MCP server ${name}.`),
    version: options.version ?? (server.version || "1"),
    route: (message) => routeMessage(message, skills),
    async run(task) {
      const skill = task.skillId === undefined ? undefined : byId.get(task.skillId);
      if (skill !== undefined) return runCall(task, skill, { connections, settings });
      if (task.skillId !== undefined)
        throw mcpFailure("mcp-tool-gone", `The server no longer has the tool ${JSON.stringify(task.skillId)}.`);
      const ids = skills.slice(0, 20).map(({ id }) => JSON.stringify(id));
      return task.reject(
        `No skill accepts this message. Choose one with \`skillId\` in the metadata, and send its arguments as data: ${ids.join(", ") || "the server has no tools now"}.`,
      );
    },
  });
  return {
    ...declared,
    skills,
    cardRevision: () => revision,
    ...(opener.children !== undefined && { startsPrograms: true }),
    async open(serverLogger) {
      logger.use(serverLogger);
      const killed = (await opener.children?.open()) ?? 0;
      if (killed > 0) logger.warn("Ended programs that a server left behind when it was killed", { programs: killed });
    },
    async close() {
      renewal.stop();
      await connections.close();
      await opener.children?.close();
    },
  };
}

/** Reads the lists again, once after any number of changes. If that fails, the skills stay as they are. */
function createRenewal(read: () => Promise<unknown>, logger: Logger): { request(): void; stop(): void } {
  let isWanted = false;
  let isRunning = false;
  let isStopped = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isWanted && !isStopped) {
      isWanted = false;
      await read().catch((error: unknown) => {
        if (!isStopped)
          logger.error("The changed tools of an MCP server cannot be used; the earlier ones stay", { error });
      });
    }
    isRunning = false;
  };
  return {
    request() {
      isWanted = true;
      if (!isRunning) void run();
    },
    stop() {
      isStopped = true;
    },
  };
}

const OWN_OPTIONS: readonly string[] = [
  ...[
    "url",
    "headers",
    "fetch",
    "command",
    "args",
    "cwd",
    "env",
    "inherit",
    "grace",
    "memory",
    "cpuSeconds",
    "stateFolder",
  ],
  ...[
    "only",
    "except",
    "prompts",
    "resources",
    "repeatable",
    "connectTimeout",
    "callTimeout",
    "maxMessage",
    "connections",
  ],
];

/** The options that describe the agent. The others may contain secrets and stay here. */
function identityOf(options: McpAgentOptions): Partial<Agent> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !OWN_OPTIONS.includes(name)));
}

function wordsOf(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return message.endsWith(".") ? message : `${message}.`;
}
