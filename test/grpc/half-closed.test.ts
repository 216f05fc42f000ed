import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Http2Sessions } from "../../src/platform/http2-sessions.ts";
import { callHeaders, http2Frame, PREFACE, SETTINGS, TYPE } from "./frames.ts";

const END_STREAM_AND_HEADERS = 5;
let close = (): void => {};
afterEach(() => close());

it("A caller that never closes its side of a connection is disconnected, once the server has ended its own side", async () => {
  const http2 = createHttp2Server();
  const sessions = new Http2Sessions(http2, { head: 100, whole: 100, idle: 50 }, 10);
  http2.on("stream", (stream) => {
    stream.respond({ ":status": 200 }, { endStream: true });
    // As when the server replaces a connection: open requests may finish.
    stream.session?.close();
  });
  const server = createServer((socket) => sessions.accept(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const caller = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  close = () => {
    sessions.drain();
    caller.destroy();
    server.close();
  };
  const ended = once(caller, "end");
  caller.resume();
  caller.write(PREFACE);
  caller.write(SETTINGS);
  caller.write(http2Frame(TYPE.headers, { stream: 1, flags: END_STREAM_AND_HEADERS, payload: callHeaders("/") }));
  await ended;
  const count = (): Promise<number> => new Promise((resolve) => server.getConnections((_error, open) => resolve(open)));
  expect(await count()).toBe(1);
  await expect.poll(count, { timeout: 5000 }).toBe(0);
});
