import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKeys } from "../../src/auth.ts";
import { booking } from "../../src/demo/booking.ts";
import { echo } from "../../src/demo/echo.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createServer, type Server } from "../../src/platform/create-server.ts";

const ANNA = "anna-key";
const BEN = "ben-key";
const HOLDERS = new Map([ANNA, BEN].map((id) => [id, { id, scopes: [] }]));

let server: Server;
let url = "";

beforeAll(async () => {
  server = createServer([booking, echo], {
    store: "memory:",
    port: 0,
    grpc: false,
    logger: SILENT_LOGGER,
    limits: { maxBodyBytes: 100_000 },
    security: { schemes: { key: apiKeys({ verify: async (key) => HOLDERS.get(key) }) } },
    mcp: { tasks: { booking: "required" } },
  });
  ({ url } = await server.listen());
});
afterAll(() => server.close());

const CAPABILITIES = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };

interface Sent {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly capabilities?: object;
}

async function post(method: string, params: Readonly<Record<string, unknown>>, sent: Sent = {}): Promise<Response> {
  const { key = ANNA, headers = {}, capabilities = CAPABILITIES } = sent;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": [params["taskId"], params["name"]].find((name) => typeof name === "string") ?? "",
      ...(key !== "" && { "x-api-key": key }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
}

async function send(method: string, params: Readonly<Record<string, unknown>>, sent: Sent = {}) {
  const response = await post(method, params, sent);
  // Safe cast: every answer is a JSON-RPC response.
  const body = (await response.json()) as {
    result?: Record<string, unknown>;
    error?: { code: number; message: string };
  };
  return { status: response.status, challenge: response.headers.get("www-authenticate"), ...body };
}

const CALL = { name: "booking", arguments: { message: "a table" } };

describe("requests at /mcp", () => {
  it("need the credentials of the other bindings", async () => {
    const refused = await send("tools/call", CALL, { key: "" });
    expect(refused).toMatchObject({
      status: 401,
      challenge: expect.any(String),
      error: { message: expect.any(String) },
    });
    expect((await send("tools/list", {}, { key: "wrong" })).status).toBe(401);
  });

  it("find no tasks of other callers", async () => {
    const { taskId } = (await send("tools/call", CALL)).result ?? {};
    expect((await send("tasks/get", { taskId })).result).toMatchObject({ taskId });
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const answer = await send(method, { taskId, inputResponses: {} }, { key: BEN });
      expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining("not found") });
    }
    for (const wrong of ["", "booking:", ":x", "nobody:x", "booking:../x"])
      expect((await send("tasks/get", { taskId: wrong })).error).toMatchObject({
        code: wrong === "" ? expect.any(Number) : -32602,
      });
  });

  it("get no notifications of tasks of other callers", async () => {
    const taskId = (await send("tools/call", CALL)).result?.["taskId"];
    const stream = await post("subscriptions/listen", { notifications: { taskIds: [taskId] } }, { key: BEN });
    const text = await stream.text();
    expect(text).toContain('"notifications":{"taskIds":[]}');
    expect(text).not.toContain(String(taskId));
  });

  it("refuse a forged requestState", async () => {
    const call = { name: "echo", arguments: { message: "hi" }, requestState: "v1.e30.AAAA" };
    expect((await send("tools/call", call)).error).toMatchObject({ code: -32602 });
  });

  it("name the invalid argument, and unknown tools", async () => {
    const cases = [
      [{ text: "hi" }, "arguments.text: is not an argument of this tool"],
      [{ message: 1 }, "arguments.message: must be a string"],
      [{ message: "a", files: [{ base64: "%" }] }, "arguments.files[0].base64: is not valid base64"],
    ] as const;
    for (const [args, text] of cases) {
      const { result } = await send("tools/call", { name: "echo", arguments: args });
      expect(result).toMatchObject({ isError: true, content: [{ text }] });
    }
    const unknown = await send("tools/call", { name: "nothing", arguments: {} });
    expect(unknown.error).toMatchObject({ code: -32602, message: "Unknown tool: nothing" });
    expect(
      (await send("tools/call", { name: "discover_agent", arguments: { url: "http://127.0.0.1" } })).error?.code,
    ).toBe(-32602);
  });

  it("are refused with wrong headers, too large, in batches, not JSON, or from other origins", async () => {
    expect(await send("tools/list", {}, { headers: { "mcp-method": "tools/call" } })).toMatchObject({
      status: 400,
      error: { code: -32020 },
    });
    expect((await send("tools/list", {}, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    const headers = { "content-type": "application/json", "x-api-key": BEN };
    const post = async (body: string): Promise<number> =>
      (await fetch(`${url}/mcp`, { method: "POST", headers, body })).status;
    expect(await post("x".repeat(200_000))).toBe(413);
    expect(await post("[]")).toBe(400);
    expect(await post("{")).toBe(400);
    expect(await post('{"jsonrpc":"2.0","id":"forged.AAAA","result":{"action":"accept"}}')).toBe(400);
    expect((await fetch(`${url}/mcp`, { headers })).status).toBe(405);
    const session = { ...headers, "mcp-session-id": "forged.AAAA" };
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    expect((await fetch(`${url}/mcp`, { method: "POST", headers: session, body })).status).toBe(404);
  });

  it("of clients without tasks are refused where a task is required", async () => {
    expect((await send("tools/call", CALL, { capabilities: {} })).error).toMatchObject({ code: -32021 });
  });
});
