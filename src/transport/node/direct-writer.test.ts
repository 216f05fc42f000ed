import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import type { PullSource } from "../exchange.ts";
import { createNodeHandler } from "./node-handler.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Served {
  readonly port: number;
  /** What was written to the sockets of the server, one entry per write. */
  readonly writes: string[];
}

async function serving(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  const writes: string[] = [];
  server.on("connection", (socket) => {
    const write = socket.write.bind(socket);
    // A cast, because `write` has overloads.
    socket.write = ((...args: Parameters<typeof write>) => {
      writes.push(String(args[0]));
      return write(...args);
    }) as typeof socket.write;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, writes };
}

/** A stream whose pieces come one after the other, each in a turn of the event loop of its own. */
function source(pieces: readonly string[]): PullSource {
  const rest = [...pieces];
  return {
    pull: () => new Promise((resolve) => setImmediate(() => resolve(rest.shift()))),
    cancel: () => undefined,
  };
}

function streaming(...pieces: string[]): RequestListener {
  return createNodeHandler(async () => ({ status: 200, headers: {}, source: source(pieces) }));
}

test("each piece after the first is one write to the socket, in chunked encoding", async () => {
  const { port, writes } = await serving(streaming("first", "second", "thïrd", "", "x".repeat(20)));
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect(await response.text()).toBe(`firstsecondthïrd${"x".repeat(20)}`);
  expect(writes).toEqual(expect.arrayContaining(["6\r\nsecond\r\n", "6\r\nthïrd\r\n", `14\r\n${"x".repeat(20)}\r\n`]));
});

test("a replaced write, as compressing middleware has, gets every piece", async () => {
  const written: string[] = [];
  const handler = streaming("first", "second", "third");
  const { port } = await serving((request, response) => {
    const write = response.write.bind(response);
    response.write = ((...args: Parameters<typeof write>) => {
      written.push(String(args[0]));
      return write(...args);
    }) as typeof response.write;
    handler(request, response);
  });
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("firstsecondthird");
  expect(written).toEqual(["first", "second", "third"]);
});

test("pipelined requests are answered in their order", async () => {
  const { port } = await serving((request, response) => {
    const pieces = request.url === "/1" ? ["a", "b", "c"] : ["d", "e", "f"];
    streaming(...pieces)(request, response);
  });
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /1 HTTP/1.1\r\nhost: x\r\n\r\nGET /2 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const answers = await text(socket);
  expect(answers.match(/(?<=\r\n1\r\n)\w/g)?.join("")).toBe("abcdef");
});

test("an HTTP/1.0 caller, who knows no chunks, gets the pieces as they are", async () => {
  const { port } = await serving(streaming("first", "second"));
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.0\r\n\r\n");
  expect((await text(socket)).split("\r\n\r\n")[1]).toBe("firstsecond");
});

test("a reader that is slower than the server gets every piece", async () => {
  const piece = "x".repeat(60_000);
  const { port } = await serving(streaming(...Array.from({ length: 200 }, () => piece)));
  const response = await fetch(`http://127.0.0.1:${port}/`);
  let length = 0;
  for await (const bytes of response.body ?? []) {
    length += bytes.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(length).toBe(200 * piece.length);
});
