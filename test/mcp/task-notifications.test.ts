import { Client, StreamableHTTPClientTransport, type SubscriptionFilter } from "@modelcontextprotocol/client";
import { createApplicationInputHandler, createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";
import { isDetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Agent, agent } from "../../src/engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createServer, type Server } from "../../src/platform/create-server.ts";
import type { JsonValue } from "../../src/protocol/json.ts";

const ABOUT = { name: "official-client", version: "1.0.0" };
const CAPABILITIES = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
const FRAMING = { protocolVersion: "2026-07-28", clientInfo: ABOUT, clientCapabilities: CAPABILITIES };

let server: Server;
let url = "";

/** Asks two questions, one after the other. */
const asking: Agent = agent({
  id: "asking",
  name: "Asking",
  description: "Asks.",
  version: "1.0.0",
  async run(task) {
    const first = await task.ask("First?");
    const second = await task.ask("Second?");
    await task.artifact("answer").end(`${first}, ${second}`);
  },
});

beforeAll(async () => {
  server = createServer([asking], {
    store: "memory:",
    port: 0,
    grpc: false,
    drainTimeout: 0,
    logger: SILENT_LOGGER,
    // The tests would time out if clients waited for their next poll.
    mcp: { tasks: { asking: "required" }, pollInterval: 600_000 },
  });
  ({ url } = await server.listen());
});
afterAll(() => server.close());

const unexpected = (): never => {
  throw new Error("Agents do not ask for this.");
};

type Params = Readonly<Record<string, unknown>>;

/** Sends a request as the transport of a host would. */
async function request(method: string, params: Params, meta: Params = {}): Promise<Response> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": FRAMING.protocolVersion,
    "io.modelcontextprotocol/clientInfo": ABOUT,
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    ...meta,
  };
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": FRAMING.protocolVersion,
      "mcp-method": method,
      "mcp-name": [params["taskId"], params["name"]].find((name) => typeof name === "string") ?? "",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params: { ...params, _meta } }),
  });
}

interface RpcMessage {
  readonly id?: number;
  readonly method?: string;
  readonly result?: Params;
  readonly error?: { readonly code: number; readonly message: string };
  readonly params?: Params;
}

async function result(method: string, params: Params): Promise<Params> {
  // Safe cast: the server answers with JSON-RPC.
  return ((await (await request(method, params)).json()) as RpcMessage).result ?? {};
}

async function createTask(): Promise<string> {
  return String((await result("tools/call", { name: "asking", arguments: { message: "go" } }))["taskId"]);
}

/** Reads the messages of a stream one by one. */
async function* messagesOf({ body }: Response): AsyncGenerator<RpcMessage> {
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined) yield JSON.parse(data.slice("data: ".length));
    }
  }
}

/** The next notification with this status. */
async function untilStatus(messages: AsyncGenerator<RpcMessage>, status: string): Promise<Params> {
  for (let { value } = await messages.next(); value !== undefined; { value } = await messages.next()) {
    const { params = {} }: RpcMessage = value;
    if (params["status"] === status) return params;
  }
  throw new Error(`The stream ended without ${status}.`);
}

async function answer(task: Params, text: string): Promise<void> {
  const [key = ""] = Object.keys(task["inputRequests"] ?? {});
  const inputResponses = { [key]: { action: "accept", content: { answer: text } } };
  await result("tasks/update", { taskId: task["taskId"], inputResponses });
}

describe("notifications of tasks", () => {
  it("tell what tasks/get would return, whenever the status changes, until the task has ended", async () => {
    const taskId = await createTask();
    const response = await request("subscriptions/listen", { notifications: { taskIds: [taskId] } });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const messages = messagesOf(response);
    const _meta = { "io.modelcontextprotocol/subscriptionId": 7 };
    expect((await messages.next()).value).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta, notifications: { taskIds: [taskId] } },
    });
    const asked = await untilStatus(messages, "input_required");
    expect(asked).toMatchObject({ taskId, _meta });
    expect(isDetailedTaskV2({ resultType: "complete", ...asked })).toBe(true);
    await answer(asked, "one");
    await answer(await untilStatus(messages, "input_required"), "two");
    const completed = await untilStatus(messages, "completed");
    expect({ resultType: "complete", ...completed }).toEqual({ ...(await result("tasks/get", { taskId })), _meta });
    expect((await messages.next()).value).toEqual({ jsonrpc: "2.0", id: 7, result: { resultType: "complete", _meta } });
    expect(await messages.next()).toMatchObject({ done: true });
  });

  it("drive the official client of the extension, which then does not wait for its next poll", async () => {
    const client = new Client(ABOUT, {
      capabilities: CAPABILITIES,
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    const session = createTaskSessionFromClient(client, {
      endpointId: "test",
      v2RequestFraming: FRAMING,
      rawDispatch: async (message) => {
        // Safe casts: requests and answers are JSON-RPC.
        const { method, params } = message as unknown as { readonly method: string; readonly params: Params };
        const { result: value = null, error } = (await (await request(method, params)).json()) as RpcMessage;
        return error === undefined ? { kind: "result", result: value as JsonValue } : { kind: "error", error };
      },
      onInputRequest: createApplicationInputHandler({
        elicitation: async ({ params }) => ({
          action: "accept",
          content: { answer: params["message"] === "First?" ? "one" : "two" },
        }),
        sampling: unexpected,
        roots: unexpected,
      }),
    });
    const execution = await session.callTool("asking", { message: "go" });
    const taskIds = [execution.handle?.taskId];
    // Safe cast: the client does not know the filter of the extension, and passes it on.
    const subscription = await client.listen({ taskIds } as SubscriptionFilter);
    const { outcome } = await execution.settle();
    expect(outcome).toMatchObject({ status: "completed", result: { content: [{ type: "text", text: "one, two" }] } });
    await subscription.close();
    await session.close();
    await client.close();
  });

  it("leave out tasks that do not exist, and end at once if none is left", async () => {
    const taskIds = ["asking:nothing", "unknown:1", "no id"];
    const messages: RpcMessage[] = [];
    for await (const message of messagesOf(await request("subscriptions/listen", { notifications: { taskIds } })))
      messages.push(message);
    expect(messages).toMatchObject([{ params: { notifications: { taskIds: [] } } }, { id: 7, result: {} }]);
  });

  it("need the extension, and a list of at most 100 ids", async () => {
    const listen = async (taskIds: unknown, meta: Params = {}): Promise<unknown> => {
      const response = await request("subscriptions/listen", { notifications: { taskIds } }, meta);
      const { error } = (await response.json()) as RpcMessage;
      return [response.status, error?.code, error?.message];
    };
    const without = { "io.modelcontextprotocol/clientCapabilities": {} };
    expect(await listen(["asking:1"], without)).toEqual([400, -32021, expect.stringContaining("must support")]);
    expect(await listen("asking:1")).toEqual([400, -32602, expect.stringContaining("notifications.taskIds")]);
    expect(await listen([1])).toEqual([400, -32602, expect.stringContaining("must be a list of strings")]);
    expect(await listen(Array.from({ length: 101 }, String))).toEqual([
      400,
      -32602,
      expect.stringContaining("at most"),
    ]);
  });

  it("are not kept for a reader that is gone", async () => {
    const taskId = await createTask();
    const messages = messagesOf(await request("subscriptions/listen", { notifications: { taskIds: [taskId] } }));
    const asked = await untilStatus(messages, "input_required");
    await messages.return(undefined);
    await answer(asked, "one");
    const again = messagesOf(await request("subscriptions/listen", { notifications: { taskIds: [taskId] } }));
    await answer(await untilStatus(again, "input_required"), "two");
    await untilStatus(again, "completed");
  });

  it("end with a result when the server shuts down", async () => {
    const taskId = await createTask();
    const messages = messagesOf(await request("subscriptions/listen", { notifications: { taskIds: [taskId] } }));
    await untilStatus(messages, "input_required");
    const closed = server.close();
    expect((await messages.next()).value).toMatchObject({ id: 7, result: { resultType: "complete" } });
    expect(await messages.next()).toMatchObject({ done: true });
    await closed;
  });
});
