import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as Client2026, StreamableHTTPClientTransport as Transport2026 } from "@modelcontextprotocol/client";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mcpAgent } from "../../src/adapters/mcp/mcp-agent.ts";
import { type OpenServer, openServer2025, openServer2026 } from "../../src/adapters/mcp/test/open-servers.ts";
import { remoteAgent } from "../../src/adapters/remote/remote-agent.ts";
import { type Agent, agent } from "../../src/engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createServer, type Server } from "../../src/platform/create-server.ts";

// A tool of an MCP server asks a question. An official MCP client answers it, through this server and its agents.

const ABOUT = { name: "official-client", version: "1.0.0" };
const QUESTION = "For how many guests?";

let towns: Readonly<Record<"2025" | "2026", OpenServer>>;
/** Another server of this project, with the agent of an MCP server. */
let remote: Server;
let remoteUrl = "";
let folder = "";
let server: Server | undefined;
let agents: readonly Agent[] = [];
let port = 0;

const OPTIONS = { port: 0, grpc: false, drainTimeout: 0, logger: SILENT_LOGGER } as const;

beforeAll(async () => {
  towns = { "2025": await openServer2025(), "2026": await openServer2026() };
  remote = createServer(await mcpAgent({ url: towns["2026"].url, id: "town" }), { ...OPTIONS, store: "memory:" });
  ({ url: remoteUrl } = await remote.listen());
});
afterAll(async () => {
  await remote.close();
  await towns["2025"][Symbol.asyncDispose]();
  await towns["2026"][Symbol.asyncDispose]();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "palaver-mcp-"));
  port = 0;
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the server, or starts it again on the same port and store, with new connections to everything. */
async function start(create: () => Promise<readonly Agent[]>): Promise<void> {
  agents = await create();
  server = createServer(agents, { ...OPTIONS, store: `sqlite:${join(folder, "tasks.db")}`, port });
  port = Number(new URL((await server.listen()).url).port);
}

async function stop(): Promise<void> {
  await server?.close();
  server = undefined;
}

const address = (): URL => new URL(`http://127.0.0.1:${port}/mcp`);

/** Answers a question, after `asked`. */
type Asked = (question: string) => Promise<void>;

interface Caller {
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const CLIENTS: Readonly<Record<"2025" | "2026", (asked: Asked) => Promise<Caller>>> = {
  "2025": async (asked) => {
    const client = new Client2025(ABOUT, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      await asked(params.message);
      return { action: "accept", content: { guests: 4 } };
    });
    await client.connect(new Transport2025(address()));
    return client;
  },
  "2026": async (asked) => {
    const client = new Client2026(ABOUT, {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      await asked(params.message);
      return { action: "accept", content: { guests: 4 } };
    });
    await client.connect(new Transport2026(address()));
    return client;
  },
};

/** An agent that calls another one of this server. */
const concierge = agent({
  id: "concierge",
  name: "Concierge",
  description: "Books at the Krone.",
  version: "1.0.0",
  async run(task) {
    const { text } = await task.call("town", { data: { restaurant: "Krone" } }, { skill: "book_table" });
    await task.artifact("answer").end(text);
  },
});

interface Chain {
  readonly agents: () => Promise<readonly Agent[]>;
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

const TOWN = { tool: "town_book_table", args: { restaurant: "Krone" } };

const CHAINS: Readonly<Record<string, Chain>> = {
  "the agent of an MCP server of 2026": {
    ...TOWN,
    agents: async () => [await mcpAgent({ url: towns["2026"].url, id: "town" })],
  },
  "an agent that calls the agent of an MCP server": {
    tool: "concierge",
    args: { message: "A table, please" },
    agents: async () => [concierge, await mcpAgent({ url: towns["2026"].url, id: "town" })],
  },
  "a remote A2A agent, behind which is an MCP server": {
    ...TOWN,
    agents: async () => [await remoteAgent(remoteUrl, { agent: { id: "town" } })],
  },
};

const BOOKED = { content: [{ type: "text", text: "Booked a table at Krone for 4." }] };

describe.each(Object.entries(CHAINS))("a question through %s", (_title, chain) => {
  test("is answered by the official client of 2025", async () => {
    await start(chain.agents);
    const questions: string[] = [];
    const client = await CLIENTS["2025"](async (question) => void questions.push(question));
    expect(await client.callTool({ name: chain.tool, arguments: chain.args })).toMatchObject(BOOKED);
    expect(questions).toEqual([QUESTION]);
    await client.close();
  });

  test("is answered by the official client of 2026 after a restart of this server", async () => {
    const before = towns["2026"].records.calls.length;
    await start(chain.agents);
    const questions: string[] = [];
    const client = await CLIENTS["2026"](async (question) => {
      questions.push(question);
      await stop();
      await start(chain.agents);
    });
    expect(await client.callTool({ name: chain.tool, arguments: chain.args })).toMatchObject(BOOKED);
    expect(questions).toEqual([QUESTION]);
    // The table was booked once.
    expect(towns["2026"].records.calls.slice(before)).toEqual(["book_table"]);
    await client.close();
  });
});

test("a question of an MCP server of 2025 is answered", async () => {
  await start(async () => [await mcpAgent({ url: towns["2025"].url, id: "town" })]);
  const client = await CLIENTS["2026"](async () => undefined);
  expect(await client.callTool({ name: TOWN.tool, arguments: TOWN.args })).toMatchObject(BOOKED);
  await client.close();
});

test("a question of an MCP server of 2025 ends with an error if this server is restarted: the call was cut off, and is not repeated", async () => {
  const create = async (): Promise<readonly Agent[]> => [await mcpAgent({ url: towns["2025"].url, id: "town" })];
  await start(create);
  const client = await CLIENTS["2026"](async () => {
    await stop();
    await start(create);
  });
  expect(await client.callTool({ name: TOWN.tool, arguments: TOWN.args })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("not known whether it had its effect") }, {}],
  });
  await client.close();
});
