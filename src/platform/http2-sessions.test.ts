import { once } from "node:events";
import { type ClientHttp2Session, connect, constants, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { Http2Sessions } from "./http2-sessions.ts";
import { Listener, type PortHandlers } from "./listener.ts";

const BIG = Buffer.alloc(1024 * 1024);

const listeners = new Set<Listener>();
const sessions = new Set<ClientHttp2Session>();
afterEach(async () => {
  for (const session of sessions) session.destroy();
  for (const listener of listeners) await listener.close();
  sessions.clear();
  listeners.clear();
});

async function listen(http2: PortHandlers["http2"]): Promise<string> {
  const listener = new Listener({ http1: (_request, response) => response.end(), http2 }, { head: 1000, whole: 1000 });
  listeners.add(listener);
  return (await listener.listen("127.0.0.1", 0)).url;
}

function connectTo(url: string): ClientHttp2Session {
  const session = connect(url);
  session.on("error", () => undefined);
  sessions.add(session);
  return session;
}

/** Reads the first bytes of an answer and cancels the rest. Returns the code with which the stream ended. */
function cancelled(session: ClientHttp2Session): Promise<number | undefined> {
  const stream = session.request({ ":path": "/big" });
  stream.on("error", () => undefined);
  stream.once("data", () => stream.close(constants.NGHTTP2_CANCEL));
  return new Promise((resolve) => stream.on("close", () => resolve(stream.rstCode)));
}

it("A caller that cancels large answers is sent to a new connection before Node has no memory for it, and its other streams go on", async () => {
  const waiting: ServerHttp2Stream[] = [];
  const url = await listen(({ stream, headers }) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200 });
    if (headers[":path"] === "/big") stream.write(BIG);
    else waiting.push(stream);
  });
  const first = connectTo(url);
  const other = first.request({ ":path": "/wait" });
  await once(other, "response");
  let session = first;
  const codes = new Set<number | undefined>();
  for (let index = 0; index < 60; index++) {
    codes.add(await cancelled(session));
    if (session.closed) session = connectTo(url);
  }
  // A request that crosses the GOAWAY is refused as not processed, so that its caller may repeat it.
  expect(codes.difference(new Set([constants.NGHTTP2_CANCEL, constants.NGHTTP2_REFUSED_STREAM]))).toEqual(new Set());
  expect(session).not.toBe(first);
  for (const stream of waiting) stream.end("to the end");
  expect(await text(other)).toBe("to the end");
});

it("A caller may cancel all of its streams at once, several times", async () => {
  const url = await listen(({ stream }) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200 });
  });
  const session = connectTo(url);
  for (let round = 0; round < 3; round++) {
    const streams = Array.from({ length: 250 }, () => session.request({ ":path": "/" }));
    await Promise.all(streams.map((stream) => once(stream, "response")));
    const closed = Promise.all(streams.map((stream) => once(stream, "close")));
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    await closed;
  }
  const last = session.request({ ":path": "/" });
  await once(last, "response");
  expect(session.closed).toBe(false);
  last.close();
});

it("A connection that the server replaced is closed, also if its last streams end at the same time", async () => {
  const url = await listen(({ stream, headers }) => {
    const { session } = stream;
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200 });
    if (headers[":path"] !== "/big") session?.once("last", () => stream.end("to the end"));
    else stream.write(Buffer.alloc(10 * BIG.byteLength));
    stream.once("close", () => session?.emit("last"));
  });
  const callers = Array.from({ length: 5 }, async () => {
    const session = connectTo(url);
    const closed = new Promise((resolve) => {
      session.on("connect", (_session, socket) => socket.on("close", resolve));
    });
    const others = Array.from({ length: 3 }, () => text(session.request({ ":path": "/wait" })));
    expect(await cancelled(session)).toBe(constants.NGHTTP2_CANCEL);
    expect(await Promise.all(others)).toEqual(["to the end", "to the end", "to the end"]);
    await closed;
  });
  await Promise.all(callers);
});

it("A connection without requests is closed after the idle time, also after its requests have ended", async () => {
  const server = createServer();
  const idle = new Http2Sessions(server, { head: 60_000, whole: 60_000, idle: 50 }, 10);
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200 });
    stream.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connectTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const goneAway = once(session, "goaway");
  await text(session.request({ ":path": "/" }));
  expect((await goneAway)[0]).toBe(constants.NGHTTP2_NO_ERROR);
  await (session.destroyed || once(session, "close"));
  idle.drain();
  server.close();
});
