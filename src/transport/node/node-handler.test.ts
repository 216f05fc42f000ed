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
    // What ends an answer lies within its last chunks; looking at all of a long one each time would take for ever.
    if (pattern.test(chunks.slice(-8).join(""))) break;
  }
  return chunks.join("");
}

describe("The node:http face", () => {
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

  it("answers requests that were sent before the first answer came", async () => {
    const { dial } = await open();
    const socket = await dial();
    socket.write(rpc("GetTask", { id: "a" }) + rpc("GetTask", { id: "b" }));
    const answers = await readUntil(socket, /"taskId":"b"[\s\S]*\}$/);
    expect(answers.indexOf('"taskId":"a"')).toBeLessThan(answers.indexOf('"taskId":"b"'));
  });

  it("sends HEAD the length and no body, and goes on with the connection", async () => {
    const { dial } = await open();
    const socket = await dial();
    socket.write("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    const head = await readUntil(socket, /\r\n\r\n/);
    expect(head).toMatch(/content-length: 15/i);
    expect(head.endsWith("\r\n\r\n")).toBe(true);
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await readUntil(socket, /\}$/)).toContain('{"status":"ok"}');
  });

  it("takes absolute request targets", async () => {
    const { dial } = await open();
    const socket = await dial();
    socket.write("GET http://proxy.example/healthz?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await readUntil(socket, /\}$/)).toContain('{"status":"ok"}');
  });

  it("survives a caller that goes away in the middle of its body", async () => {
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

  it("lets a caller that sent too much read why, and cuts off one that goes on", async () => {
    const { dial } = await open({ limits: { maxBodyBytes: 1000 } });
    const socket = await dial();
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n${"x".repeat(1500)}`,
    );
    expect(await readUntil(socket, /\}$/)).toMatch(/^HTTP\/1\.1 413 [\s\S]*-32058/);
    // Being reset is one way to be cut off, so errors do not count.
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const feeding = setInterval(() => socket.write("x".repeat(10_000)), 1);
    await closed;
    clearInterval(feeding);
  });

  it("ends the waiting, not the task, when the caller of a send goes away", async () => {
    const { dial, engine } = await open();
    const socket = await dial();
    socket.write(rpc("SendMessage", textMessage("hang")));
    await expect.poll(() => engine.tasks.size).toBe(1);
    const signal = engine.submissions[0]?.signal;
    expect(signal?.aborted).toBe(false);
    socket.destroy();
    await expect.poll(() => signal?.aborted).toBe(true);
    expect(engine.tasks.get(engine.latest)?.state).toBe("working");
  });

  it("ends the subscription, not the task, when a reader goes away", async () => {
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

  it("cancels a stream that is ready only after its reader has gone", async () => {
    const { dial, engine, handler } = await open();
    const gate = Promise.withResolvers<void>();
    const subscribe = engine.subscribe.bind(engine);
    engine.subscribe = async (...args) => {
      await gate.promise;
      return subscribe(...args);
    };
    const socket = await dial();
    socket.write(rpc("SendStreamingMessage", textMessage("hang")));
    await expect.poll(() => engine.submissions.length).toBe(1);
    const signal = engine.submissions[0]?.signal;
    socket.destroy();
    await expect.poll(() => signal?.aborted).toBe(true);
    gate.resolve();
    await expect.poll(() => handler.openStreams).toBe(0);
    expect(engine.subscriptions).toBe(0);
  });

  it("reads no further for a reader that does not read, and delivers everything once it does", async () => {
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
    // Whatever the kernel takes goes out; then nothing more is encoded.
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

describe("A body that the host has parsed before", () => {
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
    ["bytes of another kind", (body) => new Uint8Array(body)],
  ])("is taken from there as %s", async (_kind, parse) => {
    const { engine, post } = await openBehind(parse);
    expect(await (await post(send)).json()).toMatchObject({ id: 1, result: { task: { status: {} } } });
    expect(engine.submissions[0]?.message.parts).toMatchObject([{ text: "hëllo" }]);
  });

  it("is held to the same limit", async () => {
    const { engine, post } = await openBehind((body) => JSON.parse(body.toString()), { limits: { maxBodyBytes: 100 } });
    expect((await post(send)).status).toBe(413);
    expect(engine.submissions).toHaveLength(0);
  });

  it("is refused, not failed on, where it nests too deeply to be written again", async () => {
    const { engine, post } = await openBehind((body) => JSON.parse(body.toString()));
    const response = await post(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32700, message: "The body has too many levels of nesting" },
    });
    expect(engine.submissions).toHaveLength(0);
  });

  it("is not taken from there while the request itself can still be read", async () => {
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

describe("A body that is not to be had", () => {
  it("is told to the log where somebody has read it before and left nothing", async () => {
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

  it("is not waited for when the caller was gone before it was asked for", async () => {
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
