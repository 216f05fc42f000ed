import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as client2026 from "@modelcontextprotocol/client";
import { isCreateTaskResultV2, isDetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcpAgent } from "../../src/adapters/mcp/mcp-agent.ts";
import { remoteAgent } from "../../src/adapters/remote/remote-agent.ts";
import { connect } from "../../src/client/connect.ts";
import { booking } from "../../src/demo/booking.ts";
import { type Agent, agent, skill } from "../../src/engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createServer, type Server } from "../../src/platform/create-server.ts";
import type { ServerOptions } from "../../src/platform/settings/settings.ts";

const ABOUT = { name: "official-client", version: "1.0.0" };
const TASKS = "io.modelcontextprotocol/tasks";

let folder = "";
let server: Server | undefined;
let url = "";
let port = 0;

/** Starts the server, or starts it again on the same port and store. */
async function start(agents: readonly Agent[], options: ServerOptions = {}): Promise<void> {
  server = createServer(agents, {
    store: `sqlite:${join(folder, "tasks.db")}`,
    port,
    grpc: false,
    drainTimeout: 0,
    logger: SILENT_LOGGER,
    ...options,
  });
  ({ url } = await server.listen());
  port = Number(new URL(url).port);
}

async function restart(agents: readonly Agent[], options: ServerOptions = {}): Promise<void> {
  await server?.close();
  await start(agents, options);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "palaver-mcp-"));
  port = 0;
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** The answers of a person to the questions of the booking agent. */
function answerTo(question: string): string {
  if (question.includes("how many")) return "4";
  if (question.includes("which day")) return "2027-05-17";
  return "yes";
}

const BOOKED = { structuredContent: { guests: 4, date: "2027-05-17" } };

async function modernClient(options: { asked?: (question: string) => Promise<void> } = {}): Promise<client2026.Client> {
  const client = new client2026.Client(ABOUT, {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    await options.asked?.(params.message);
    return { action: "accept", content: { answer: answerTo(params.message) } };
  });
  await client.connect(new client2026.StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return client;
}

const CALL = { name: "booking", arguments: { message: "I would like to book a table" } };

describe("the official client of 2026-07-28", () => {
  it("books a table: each question is shown to the user", async () => {
    await start([booking]);
    const questions: string[] = [];
    const client = await modernClient({
      asked: async (question) => {
        questions.push(question);
      },
    });
    expect((await client.listTools()).tools).toMatchObject([{ name: "booking", title: "Table booking" }]);
    expect(await client.callTool(CALL)).toMatchObject(BOOKED);
    expect(questions).toEqual([
      "For how many people?",
      "For which day? (YYYY-MM-DD)",
      "A table for 4 on 2027-05-17. Shall I book it?",
    ]);
    await client.close();
  });

  it("books a table through restarts of the server while each question is open", async () => {
    await start([booking]);
    const client = await modernClient({ asked: () => restart([booking]) });
    expect(await client.callTool(CALL)).toMatchObject(BOOKED);
    await client.close();
  });

  it("is asked again if an answer is invalid", async () => {
    await start([booking]);
    const client = new client2026.Client(ABOUT, {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    });
    let times = 0;
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      times += 1;
      return { action: "accept", content: { answer: times === 1 ? "many" : answerTo(params.message) } };
    });
    await client.connect(new client2026.StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    expect(await client.callTool(CALL)).toMatchObject(BOOKED);
    expect(times).toBe(4);
    await client.close();
  });

  it("gets an error if its user declines to answer, and the task is canceled", async () => {
    await start([booking]);
    const client = new client2026.Client(ABOUT, {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    });
    client.setRequestHandler("elicitation/create", async () => ({ action: "decline" }));
    await client.connect(new client2026.StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    expect(await client.callTool(CALL)).toMatchObject({ isError: true });
    await client.close();
  });

  it("repeats arguments in headers if a tool asks for them, as an agent of an MCP server does", async () => {
    const shipping = agent({
      id: "shipping",
      name: "Shipping",
      description: "Ships.",
      version: "1.0.0",
      skills: [
        skill({
          id: "ship",
          name: "Ship",
          description: "Ships to a region.",
          tags: [],
          input: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
          run: async (task) => task.artifact("answer").end(`Shipped to ${task.data.region}.`),
        }),
      ],
    });
    await start([shipping]);
    const client = await modernClient();
    // The client knows the headers from the list.
    await client.listTools();
    const shipped = (region: string): object => ({ content: [{ type: "text", text: `Shipped to ${region}.` }] });
    for (const region of ["eu", "Zürich", "=?base64?eA==?="])
      expect(await client.callTool({ name: "shipping", arguments: { region } })).toMatchObject(shipped(region));
    await client.close();
    const relay = await mcpAgent({ url: `${url}/mcp`, id: "relay" });
    const front = createServer(relay, { store: "memory:", port: 0, grpc: false, logger: SILENT_LOGGER });
    try {
      const remote = await connect((await front.listen()).url);
      const sent = await remote.send({ parts: [{ data: { region: "Zürich" } }], metadata: { skillId: "shipping" } });
      expect(sent).toMatchObject({ task: { artifacts: [{ parts: [{ text: "Shipped to Zürich." }] }] } });
    } finally {
      await front.close();
    }
  });

  it("answers the questions of a remote A2A agent that is behind an agent of this server, also through a restart", async () => {
    const remote = createServer(booking, { store: "memory:", port: 0, grpc: false, logger: SILENT_LOGGER });
    const { url: remoteUrl } = await remote.listen();
    try {
      const relay = async (): Promise<Agent> => remoteAgent(remoteUrl, { agent: { id: "booking" } });
      await start([await relay()]);
      const client = await modernClient({ asked: async () => restart([await relay()]) });
      expect(await client.callTool(CALL)).toMatchObject(BOOKED);
      await client.close();
    } finally {
      await remote.close();
    }
  });
});

describe("a client of the tasks extension", () => {
  it("polls a long call, answers its questions and gets the result, through restarts of the server; all answers fit the official schemas", async () => {
    const options: ServerOptions = { mcp: { tasks: { booking: "required" }, pollInterval: 20 } };
    await start([booking], options);
    const created = await post("tools/call", CALL);
    expect(isCreateTaskResultV2(created)).toBe(true);
    const { taskId } = created as { taskId: string };
    const asked = new Set<string>();
    let task: PolledTask = { status: "working" };
    while (task.status === "working" || task.status === "input_required") {
      const answer = await post("tasks/get", { taskId });
      expect(isDetailedTaskV2(answer)).toBe(true);
      // Safe cast: the line above has checked it.
      task = answer as PolledTask;
      for (const [key, { params }] of Object.entries(task.inputRequests ?? {})) {
        if (asked.has(key)) continue;
        asked.add(key);
        await restart([booking], options);
        const content = { answer: answerTo(params.message) };
        await post("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content } } });
      }
    }
    expect(task).toMatchObject({ status: "completed", result: BOOKED });
    expect(asked.size).toBe(3);
  });
});

interface PolledTask {
  readonly status: string;
  readonly inputRequests?: Readonly<Record<string, { readonly params: { readonly message: string } }>>;
}

/** Sends a request of the revision 2026-07-28 and returns its result. */
async function post(
  method: string,
  params: { readonly name?: string; readonly taskId?: string; readonly inputResponses?: object },
): Promise<unknown> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": ABOUT,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, extensions: { [TASKS]: {} } },
  };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": params.taskId ?? params.name ?? "",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  // Safe cast: the server answers with JSON-RPC.
  return ((await response.json()) as { result: unknown }).result;
}

describe("the official client of 2025", () => {
  const connect = async (capabilities: object, asked?: () => Promise<void>): Promise<Client2025> => {
    const client = new Client2025(ABOUT, { capabilities });
    if ("elicitation" in capabilities)
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        await asked?.();
        return { action: "accept", content: { answer: answerTo(params.message) } };
      });
    await client.connect(new Transport2025(new URL(`${url}/mcp`)));
    return client;
  };

  it("books a table: the questions come on the stream of the call", async () => {
    await start([booking]);
    const client = await connect({ elicitation: {} });
    expect(await client.callTool(CALL)).toMatchObject(BOOKED);
    await client.close();
  });

  it("gets the progress of a streaming agent", async () => {
    const counting = agent({
      id: "counting",
      name: "Counting",
      description: "Counts.",
      version: "1.0.0",
      async run(task) {
        await task.status("one");
        await task.step("pause", () => new Promise((resolve) => setTimeout(resolve, 200)));
        await task.status("two");
        await task.step("another pause", () => new Promise((resolve) => setTimeout(resolve, 200)));
        await task.artifact("answer").end("three");
      },
    });
    await start([counting]);
    const client = await connect({});
    const seen: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void => void seen.push(message);
    const result = await client.callTool({ name: "counting", arguments: { message: "count" } }, undefined, {
      onprogress,
    });
    expect(result).toMatchObject({ content: [{ type: "text", text: "three" }] });
    expect(seen).toContain("two");
    await client.close();
  });

  it("without forms gets the question as text, and answers it with a tool, also after a restart", async () => {
    await start([booking]);
    const client = await connect({});
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["booking", "answer_agent"]);
    let result = await client.callTool(CALL);
    for (let n = 0; n < 3; n += 1) {
      const [{ text = "" } = {}] = result.content as { text?: string }[];
      expect(text).toContain("call the tool answer_agent with task");
      const [, task] = /task "([^"]+)"/.exec(text) ?? [];
      await restart([booking]);
      result = await client.callTool({ name: "answer_agent", arguments: { task, answer: answerTo(text) } });
    }
    expect(result).toMatchObject(BOOKED);
    await client.close();
  });
});
