import { connect as connectHttp2 } from "node:http2";
import { text } from "node:stream/consumers";
import { agent, createServer, type Server } from "palaver";
import { afterEach, expect, it } from "vitest";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
let server: Server | undefined;
afterEach(() => server?.close());

it.each([true, false])("REST, JSON-RPC and their streams work over HTTP/2, with gRPC: %s", async (grpc) => {
  const echo = agent({ name: "Echo", description: "Repeats.", version: "1.0.0", run: async (task) => task.text });
  server = createServer(echo, { port: 0, store: "memory:", logger: QUIET, drainTimeout: 0, grpc });
  const { url, grpc: isServed } = await server.listen();
  expect(isServed).toBe(grpc);
  const session = connectHttp2(url);
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/json", "a2a-version": "1.0" };
    const stream = session.request(headers, { endStream: false });
    stream.end(JSON.stringify(body));
    return text(stream);
  };
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "over HTTP/2" }] };
  const params = { message };
  expect(await post("/message:send", params)).toContain("over HTTP/2");
  expect(await post("/", { jsonrpc: "2.0", id: 1, method: "SendMessage", params })).toContain("over HTTP/2");
  const frames = await post("/message:stream", params);
  expect(frames).toContain("data: ");
  expect(frames).toContain("TASK_STATE_COMPLETED");
  const card = await text(session.request({ ":path": "/.well-known/agent-card.json" }));
  expect(card.includes('"GRPC"')).toBe(grpc);
  const call = session.request({
    ":method": "POST",
    ":path": "/lf.a2a.v1.A2AService/GetTask",
    "content-type": "application/grpc",
  });
  call.end();
  const [head] = await new Promise<[Record<string, unknown>]>((resolve) =>
    call.on("response", (...args) => resolve([args[0]])),
  );
  expect(head["grpc-status"] !== undefined).toBe(grpc);
  session.destroy();
});
