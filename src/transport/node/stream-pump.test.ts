import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { Answers } from "../answers/answers.ts";
import type { PullSource } from "../exchange.ts";
import { createNodeHandler } from "./node-handler.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Serves a new source to every request. */
async function serving(source: () => PullSource) {
  const server = createServer(createNodeHandler(async () => ({ status: 200, headers: {}, source: source() })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  const connections = () =>
    new Promise<number>((resolve) => {
      server.getConnections((_error, count) => resolve(count));
    });
  return { port, connections };
}

test("bytes arrive as they are, alone and as pieces of a stream between texts", async () => {
  const bytes = new Uint8Array([0, 255, 128, 10]);
  const pieces = ["é", bytes, "x"];
  const { port } = await serving(() => ({ pull: () => pieces.shift(), cancel: () => undefined }));
  const streamed = await fetch(`http://127.0.0.1:${port}/`);
  expect(Buffer.from(await streamed.arrayBuffer())).toEqual(Buffer.from([0xc3, 0xa9, ...bytes, 0x78]));

  const server = createServer(createNodeHandler(async () => ({ status: 200, headers: {}, body: bytes })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => void server.close());
  const whole = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(whole.headers.get("content-length")).toBe("4");
  expect(new Uint8Array(await whole.arrayBuffer())).toEqual(bytes);
});

const KIND = { afterWork: false, ended: () => undefined };

test("a caller that reads nothing of a long answer is disconnected, and its memory is released", async () => {
  const answers = new Answers({ maxBytes: 1e9, readerTimeoutMs: 100 });
  const { port, connections } = await serving(() => answers.ofText("x".repeat(20_000_000), KIND));
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  await once(socket, "connect");
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  while (answers.held === 0) await sleep(5);
  while (answers.held > 0 || (await connections()) > 0) await sleep(5);
  socket.destroy();
});

test("a caller that reads slowly but steadily gets the whole answer", async () => {
  const answers = new Answers({ maxBytes: 1e9, readerTimeoutMs: 2000 });
  const { port } = await serving(() => answers.ofText("x".repeat(3_000_000), KIND));
  const response = await fetch(`http://127.0.0.1:${port}/`);
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    await sleep(1);
  }
  expect([length, answers.held]).toEqual([3_000_000, 0]);
});

test("an answer whose rest cannot be produced closes the connection instead of ending normally", async () => {
  const answers = new Answers({ maxBytes: 1e9, readerTimeoutMs: 60_000 });
  const { port } = await serving(() =>
    answers.ofPieces(
      (async function* () {
        yield "x".repeat(100_000);
        throw new Error("gone");
      })(),
      0,
      KIND,
    ),
  );
  const response = await fetch(`http://127.0.0.1:${port}/`);
  await expect(response.text()).rejects.toThrow();
});
