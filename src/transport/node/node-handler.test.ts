import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { ScriptedEngine } from "../../server/test/scripted-engine.ts";
import { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from "../http-handler.ts";
import { testAgent, textMessage } from "../test/faces.ts";

let server: Server | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
  if (server?.listening === true) await once(server, "close");
});

async function open(
  options: Partial<HttpHandlerOptions> = {},
): Promise<{ engine: ScriptedEngine; handler: HttpHandler; dial: () => Promise<Socket> }> {
  const engine = new ScriptedEngine();
  const handler = createHttpHandler({ agents: [testAgent()], engine, publicUrl: "http://x", ...options });
  server = createServer(handler.nodeHandler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dial = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  return { engine, handler, dial };
}

function rpc(method: string, params: unknown, headers = ""): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Reads until the text so far satisfies the reader. */
async function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    chunks.push(String(chunk));
    // Search for the end only in the last chunks: searching a long answer each time would be too slow.
    if (pattern.test(chunks.slice(-8).join(""))) break;
  }
  return chunks.join("");
}

describe("The node:http handler", () => {
  it("answers several requests on one connection, in one write each and with their length", async () => {
    const { dial } = await open();
    const socket = await dial();
    for (const _ of [1, 2, 3]) {
      socket.write(rpc("SendMessage", textMessage("hëllo")));
      const answer = await readUntil(socket, /\}\]\}\}\}$/);
      const [head = "", body = ""] = answer.split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(head).toMatch(new RegExp(`content-length: ${Buffer.byteLength(body)}`, "i"));
      expect(head).not.toMatch(/transfer-encoding/i);
    }
  });

  it("answers pipelined requests", async () => {
    const { dial } = await open();
    const socket = await dial();
    socket.write(rpc("GetTask", { id: "a" }) + rpc("GetTask", { id: "b" }));
    const answers = await readUntil(socket, /"taskId":"b"[\s\S]*\}$/);
    expect(answers.indexOf('"taskId":"a"')).toBeLessThan(answers.indexOf('"taskId":"b"'));
  });

  it("answers HEAD with the length and no body, and keeps the connection", async () => {
    const { dial } = await open();
    const socket = await dial();
    socket.write("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    const head = await readUntil(socket, /\r\n\r\n/);
    expect(head).toMatch(/content-length: 15/i);
    expect(head.endsWith("\r\n\r\n")).toBe(true);
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await readUntil(socket, /\}$/)).toContain('{"status":"ok"}');
  });

  it("accepts absolute request targets", async () => {
    const { dial } = await open();
    const socket = await dial();
    socket.write("GET http://proxy.example/healthz?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await readUntil(socket, /\}$/)).toContain('{"status":"ok"}');
  });

  it("survives a caller that disconnects in the middle of its body", async () => {
    const { dial, engine } = await open();
    const socket = await dial();
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"',
    );
    socket.end();
    await once(socket.resume(), "close");
    expect(engine.submissions).toHaveLength(0);
    const other = await dial();
    other.write(rpc("SendMessage", textMessage("x")));
    expect(await readUntil(other, /\}$/)).toContain("TASK_STATE_COMPLETED");
  });

  it("lets a caller that sent too much read the error, and disconnects one that keeps sending", async () => {
    const { dial } = await open({ limits: { maxBodyBytes: 1000 } });
    const socket = await dial();
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n${"x".repeat(1500)}`,
    );
    expect(await readUntil(socket, /\}$/)).toMatch(/^HTTP\/1\.1 413 [\s\S]*-32058/);
    // A connection reset also counts as disconnected, so ignore errors.
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const feeding = setInterval(() => socket.write("x".repeat(10_000)), 1);
    await closed;
    clearInterval(feeding);
  });

  it("ends the wait, not the task, when the caller of a send disconnects", async () => {
    const { dial, engine } = await open();
    const socket = await dial();
    socket.write(rpc("SendMessage", textMessage("hang")));
    await expect.poll(() => engine.tasks.size).toBe(1);
    const signal = engine.submissions[0]?.call.signal;
    expect(signal?.aborted).toBe(false);
    socket.destroy();
    await expect.poll(() => signal?.aborted).toBe(true);
    expect(engine.tasks.get(engine.latest)?.state).toBe("working");
  });

  it("ends the subscription, not the task, when a reader disconnects", async () => {
    const { dial, engine, handler } = await open();
    const socket = await dial();
    socket.write(rpc("SendStreamingMessage", textMessage("hang")));
    await readUntil(socket, /WORKING/);
    expect(handler.openStreams).toBe(1);
    socket.destroy();
    await expect.poll(() => handler.openStreams).toBe(0);
    expect(engine.subscriptions).toBe(0);
    expect(engine.tasks.get(engine.latest)?.state).toBe("working");
  });

  it("cancels a stream that opens after its reader has disconnected", async () => {
    const { dial, engine, handler } = await open();
    const gate = Promise.withResolvers<void>();
    engine.onSubscribe = async (subscription) => {
      await gate.promise;
      return subscription;
    };
    const socket = await dial();
    socket.write(rpc("SendStreamingMessage", textMessage("hang")));
    await expect.poll(() => engine.submissions.length).toBe(1);
    const signal = engine.submissions[0]?.call.signal;
    socket.destroy();
    await expect.poll(() => signal?.aborted).toBe(true);
    gate.resolve();
    await expect.poll(() => handler.openStreams).toBe(0);
    expect(engine.subscriptions).toBe(0);
  });

  it("stops reading events for a reader that does not read, and delivers everything once it does", async () => {
    const { dial, engine } = await open();
    const socket = await dial();
    socket.write(rpc("SendStreamingMessage", textMessage("hang")));
    await readUntil(socket, /WORKING/);
    socket.pause();
    const id = engine.latest;
    const chunk = "x".repeat(10_000);
    const total = 2_000;
    for (let n = 0; n < total; n++) engine.chunk(id, `${n}:${chunk}`);
    const read = (): number =>
      engine.tasks.get(id)?.log.filter((entry) => entry.encoded?.get("1.0") !== undefined).length ?? 0;
    // The kernel buffers some data; after that, nothing more is encoded.
    let before = -1;
    await expect
      .poll(
        () => {
          const settled = read() === before;
          before = read();
          return settled;
        },
        { interval: 50 },
      )
      .toBe(true);
    expect(before).toBeLessThan(total);
    engine.status(id, "completed");
    const rest = await readUntil(socket, /COMPLETED/);
    const seen = [...rest.matchAll(/"text":"(\d+):/g)].map((match) => Number(match[1]));
    expect(seen).toEqual(Array.from({ length: total }, (_, n) => n));
  });
});

describe("A body that the host has parsed", () => {
  /** Reads every body as a host's parser would, and leaves that of it in `request.body`. */
  async function openBehind(parse: (body: Buffer) => unknown, options: Partial<HttpHandlerOptions> = {}) {
    const engine = new ScriptedEngine();
    const { nodeHandler } = createHttpHandler({ agents: [testAgent()], engine, publicUrl: "http://x", ...options });
    server = createServer((request, response) => {
      void buffer(request).then((body) => nodeHandler(Object.assign(request, { body: parse(body) }), response));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const post = (body: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers: { "content-type": "application/json" }, body });
    return { engine, post };
  }

  const send = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: textMessage("hëllo") });

  it.each<[string, (body: Buffer) => unknown]>([
    ["JSON", (body) => JSON.parse(body.toString())],
    ["text", (body) => body.toString()],
    ["bytes", (body) => body],
    ["a Uint8Array", (body) => new Uint8Array(body)],
  ])("is read from request.body as %s", async (_kind, parse) => {
    const { engine, post } = await openBehind(parse);
    expect(await (await post(send)).json()).toMatchObject({ id: 1, result: { task: { status: {} } } });
    expect(engine.submissions[0]?.request.message.parts).toMatchObject([{ text: "hëllo" }]);
  });

  it("has the same size limit", async () => {
    const { engine, post } = await openBehind((body) => JSON.parse(body.toString()), { limits: { maxBodyBytes: 100 } });
    expect((await post(send)).status).toBe(413);
    expect(engine.submissions).toHaveLength(0);
  });

  it("is refused as a parse error if it nests too deeply to be serialized", async () => {
    const { engine, post } = await openBehind((body) => JSON.parse(body.toString()));
    const response = await post(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32700, message: "The body has too many levels of nesting" },
    });
    expect(engine.submissions).toHaveLength(0);
  });

  it("is ignored while the request itself can still be read", async () => {
    const engine = new ScriptedEngine();
    const { nodeHandler } = createHttpHandler({ agents: [testAgent()], engine, publicUrl: "http://x" });
    server = createServer((request, response) => nodeHandler(Object.assign(request, { body: {} }), response));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const headers = { "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: send });
    expect(await response.json()).toMatchObject({ id: 1, result: { task: {} } });
  });
});

describe("An unavailable body", () => {
  it("is logged if other code has read it and left nothing", async () => {
    const errors: unknown[] = [];
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (_message: string, details?: object) => errors.push(details),
    };
    const engine = new ScriptedEngine();
    const { nodeHandler } = createHttpHandler({ agents: [testAgent()], engine, publicUrl: "http://x", logger });
    server = createServer((request, response) => {
      request.resume().on("end", () => setImmediate(nodeHandler, request, response));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const headers = { "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: "{}" });
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32603, message: "Internal error" } });
    expect(
      JSON.stringify(errors, (_key, value: unknown) => (value instanceof Error ? value.message : value)),
    ).toContain("mount this handler before");
  });

  it("is not awaited if the caller disconnected before it was read", async () => {
    const gate = Promise.withResolvers<undefined>();
    const records: unknown[] = [];
    const { dial } = await open({
      authenticate: () => gate.promise,
      hooks: { on: { call: ({ error }) => void records.push(error) } },
    });
    const socket = await dial();
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{");
    const connections = (): Promise<number> =>
      new Promise((resolve) => server?.getConnections((_error, count) => resolve(count)));
    await expect.poll(connections).toBe(1);
    socket.destroy();
    await expect.poll(connections).toBe(0);
    gate.resolve(undefined);
    await expect.poll(() => records).toEqual(["parse-error"]);
  });
});
