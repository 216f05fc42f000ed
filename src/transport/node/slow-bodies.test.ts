import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { ScriptedEngine } from "../../server/test/scripted-engine.ts";
import { createHttpHandler, type HttpHandlerOptions } from "../http-handler.ts";
import { testAgent, textMessage } from "../test/faces.ts";

const LIMITS = { maxBodyBytes: 300_000, maxPendingBodyBytes: 900_000, maxPendingBodyBytesPerAddress: 600_000 };

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
  if (server?.listening === true) await once(server, "close");
});

async function open(options: Partial<HttpHandlerOptions> = {}) {
  const engine = new ScriptedEngine();
  const handler = createHttpHandler({
    agents: [testAgent()],
    engine,
    publicUrl: "http://x",
    limits: LIMITS,
    ...options,
  });
  server = createServer(handler.nodeHandler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  /** Sends the head of a request and `sent` bytes of a body of 300,000, and waits until the server has them. */
  const begin = async (path: string, sent: number, headers: readonly string[] = []): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    await once(socket, "connect");
    const head = [`POST ${path} HTTP/1.1`, "Host: x", "Content-Type: application/json", ...headers];
    socket.write(`${[...head, "Content-Length: 300000"].join("\r\n")}\r\n\r\n`);
    socket.write(Buffer.alloc(sent, 0x20));
    await send(headers);
    return socket;
  };
  const send = async (headers: readonly string[] = [], filler = ""): Promise<number> => {
    const message = { ...textMessage("hello"), metadata: { filler } };
    const named = headers.map((header) => header.split(": ") as [string, string]);
    const { status } = await fetch(`http://127.0.0.1:${port}/message:send`, {
      method: "POST",
      headers: [["content-type", "application/json"], ...named],
      body: JSON.stringify(message),
    });
    return status;
  };
  return { engine, begin, send };
}

describe("A slow body", () => {
  it.each(["/", "/message:send"])(
    "to %s is answered with 503 and its connection closed when others need the memory",
    async (path) => {
      const { begin } = await open();
      const [first, second, third] = [
        await begin(path, 200_000),
        await begin(path, 200_000),
        await begin(path, 200_000),
      ];
      const answer = await text(first);
      expect(answer).toMatch(/^HTTP\/1\.1 503 /);
      expect(answer).toMatch(/\r\nretry-after: 5\r\n/i);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      expect(answer).toContain("this one was the slowest");
      expect([second.destroyed, third.destroyed]).toEqual([false, false]);
    },
  );

  it("does not delay fast bodies of its own address", async () => {
    const { begin, send, engine } = await open();
    for (let count = 0; count < 10; count++) await begin("/", 250_000);
    const before = engine.submissions.length;
    expect(await send([], "x".repeat(250_000))).toBe(200);
    expect(engine.submissions).toHaveLength(before + 1);
  });

  it("is dropped first in favour of bodies of its own address, as a trusted proxy reports it", async () => {
    const { begin } = await open({ trustedProxies: ["loopback"] });
    const other = await begin("/", 200_000, ["X-Forwarded-For: 192.0.2.7"]);
    const mine = await begin("/", 200_000, ["X-Forwarded-For: 192.0.2.1"]);
    await begin("/", 200_000, ["X-Forwarded-For: 192.0.2.1"]);
    await begin("/", 200_000, ["X-Forwarded-For: 192.0.2.1"]);
    expect(await text(mine)).toMatch(/^HTTP\/1\.1 503 /);
    expect(other.destroyed).toBe(false);
  });

  it("is no longer counted after its caller disconnected", async () => {
    const { begin } = await open();
    const first = await begin("/", 200_000);
    const gone = await begin("/", 200_000);
    gone.destroy();
    await begin("/", 200_000);
    // The body is complete now, and is answered normally.
    first.end(Buffer.alloc(100_000, 0x20));
    expect(await text(first)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("A slow body of a web-standard request", () => {
  it("is also dropped, and its stream canceled", async () => {
    const { fetch: handle } = createHttpHandler({
      agents: [testAgent()],
      engine: new ScriptedEngine(),
      publicUrl: "http://x",
      limits: LIMITS,
    });
    let canceled = 0;
    const begin = (): Promise<Response> => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(Buffer.alloc(100_000, 0x20));
          controller.enqueue(Buffer.alloc(150_000, 0x20));
        },
        cancel: () => {
          canceled += 1;
        },
      });
      const headers = { "content-type": "application/json" };
      return handle(new Request("http://x/", { method: "POST", headers, body, duplex: "half" }));
    };
    const answers = [begin(), begin(), begin(), begin()];
    const [first] = answers;
    expect((await first)?.status).toBe(503);
    expect(canceled).toBe(1);
  });
});
