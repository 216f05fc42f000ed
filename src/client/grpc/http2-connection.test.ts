import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { constants, createServer, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import { Http2Connection } from "./http2-connection.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listen(server: Server): Promise<URL> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  // `Server.address()` is an object for TCP.
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/call`);
}

function serve(answer: (stream: ServerHttp2Stream) => void): Promise<URL> {
  const server = createServer();
  server.on("session", (session) => session.on("error", () => undefined));
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    answer(stream);
  });
  return listen(server);
}

function request(
  url: URL,
  { signal = new AbortController().signal, clock = new FakeClock() }: { signal?: AbortSignal; clock?: FakeClock } = {},
): ReturnType<Http2Connection["request"]> {
  return new Http2Connection(clock).request({ url, headers: new Headers(), body: new Uint8Array(5), signal });
}

const CODES = Array.from({ length: 14 }, (_, code) => code);
const BREAKS: readonly (readonly [string, (stream: ServerHttp2Stream) => void])[] = [
  ...CODES.map(
    (code) => [`resets the stream with code ${code}`, (stream: ServerHttp2Stream) => stream.close(code)] as const,
  ),
  ["destroys the session", (stream) => stream.session?.destroy()],
  ...CODES.map(
    (code) =>
      [
        `goes away with code ${code} and answers nothing`,
        (stream: ServerHttp2Stream) => stream.session?.goaway(code, 0),
      ] as const,
  ),
];

describe("A request over HTTP/2 fails with `network`", () => {
  it.each(BREAKS)("if the server %s before the head", async (_name, breakOff) => {
    const url = await serve((stream) => {
      breakOff(stream);
      stream.session?.close();
      stream.close();
    });
    await expect(request(url)).rejects.toMatchObject({ code: "network" });
  });

  it.each(BREAKS)("if the server %s in the body", async (_name, breakOff) => {
    const url = await serve((stream) => {
      stream.respond({ ":status": 200 });
      stream.write("begun", () => {
        breakOff(stream);
        setTimeout(() => stream.session?.destroy(), 50);
      });
    });
    const answer = await request(url);
    const read = async (): Promise<"end"> => {
      while ((await answer.next()) !== undefined);
      return "end";
    };
    // Node reports some resets as an end; such an answer has no trailers, and so no gRPC status.
    expect(["end", "network"]).toContain(await read().catch(({ code }: { code: string }) => code));
    expect(answer.trailers.get("grpc-status")).toBeNull();
  });

  it("if the server closes the connection without a word", async () => {
    const url = await listen(createTcpServer((socket) => socket.end()));
    await expect(request(url)).rejects.toMatchObject({ code: "network" });
  });

  it("if the server speaks HTTP/1", async () => {
    const url = await listen(createTcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
    await expect(request(url)).rejects.toMatchObject({ code: "network" });
  });

  it("if nobody listens", async () => {
    const server = createTcpServer();
    const url = await listen(server);
    server.close();
    await once(server, "close");
    await expect(request(url)).rejects.toMatchObject({ code: "network" });
  });
});

it("A request to a silent server ends with the reason of its signal", async () => {
  const url = await listen(createTcpServer((socket) => socket.resume()));
  const controller = new AbortController();
  const answer = request(url, { signal: controller.signal });
  const reason = new Error("enough");
  setTimeout(() => controller.abort(reason), 20);
  await expect(answer).rejects.toBe(reason);
});

describe("A connection whose server is silent", () => {
  it("is pinged, and closed if no answer comes", async () => {
    const clock = new FakeClock();
    const url = await listen(createTcpServer((socket) => socket.resume()));
    const answer = request(url, { clock });
    const failed = expect(answer).rejects.toMatchObject({
      code: "network",
      message: expect.stringContaining("no answer to a ping"),
    });
    await clock.advance(310_000 + 20_000);
    await failed;
    expect(clock.pending).toBe(0);
  });

  it("stays open while its server answers pings", async () => {
    const clock = new FakeClock();
    const pings = new EventEmitter();
    let waiting: ServerHttp2Stream | undefined;
    const url = await serve((stream) => {
      waiting = stream;
      stream.session?.on("ping", () => pings.emit("ping"));
      stream.respond({ ":status": 200 });
    });
    const answer = await request(url, { clock });
    for (let round = 0; round < 3; round++) {
      const pinged = once(pings, "ping");
      await clock.advance(310_000);
      await pinged;
      // The client has answered pings of the server only after it has read the answer to its own.
      await new Promise((resolve) => waiting?.session?.ping(resolve));
    }
    waiting?.end("still there");
    expect(String(await answer.next())).toBe(String(Buffer.from("still there")));
  });
});

it("Many requests at once share a connection without a warning of Node", async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", onWarning);
  closers.push(() => process.off("warning", onWarning));
  const sessions = new Set<unknown>();
  const url = await serve((stream) => {
    sessions.add(stream.session);
    stream.respond({ ":status": 200 }, { endStream: true });
  });
  const connection = new Http2Connection(new FakeClock());
  const { signal } = new AbortController();
  const one = () => connection.request({ url, headers: new Headers(), body: new Uint8Array(), signal });
  await Promise.all(Array.from({ length: 50 }, one));
  expect(sessions.size).toBe(1);
  expect(warnings).toEqual([]);
});

it("A request that the server refused without processing it is repeated once", async () => {
  let requests = 0;
  const url = await serve((stream) => {
    requests += 1;
    if (requests === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else stream.respond({ ":status": 200 }, { endStream: true });
  });
  expect(await request(url)).toMatchObject({ status: 200 });
  expect(requests).toBe(2);
});

it("A connection that the server ends with GOAWAY but never closes is closed", async () => {
  const http2 = createServer();
  http2.on("stream", (stream) => {
    stream.respond({ ":status": 200 });
    stream.end("done");
    stream.session?.goaway();
  });
  const target = await listen(http2);
  // Passes bytes on in both directions, but not the end of the connection.
  const proxy = createTcpServer({ allowHalfOpen: true }, (socket) => {
    const upstream = connect({ port: Number(target.port), host: "127.0.0.1", allowHalfOpen: true });
    for (const each of [socket, upstream]) each.on("error", () => undefined);
    closers.push(() => upstream.destroy());
    socket.pipe(upstream, { end: false }).pipe(socket, { end: false });
  });
  const url = await listen(proxy);
  const opened: Socket[] = [];
  const onSocket = (message: unknown): void => void opened.push((message as { socket: Socket }).socket); // Node's documented message.
  subscribe("net.client.socket", onSocket);
  closers.push(() => unsubscribe("net.client.socket", onSocket));
  const answer = await request(url);
  while ((await answer.next()) !== undefined);
  await vi.waitFor(() => expect(opened[0]?.destroyed).toBe(true), 5000);
});
