import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { ScriptedEngine } from "../../server/test/scripted-engine.ts";
import { createHttpHandler } from "../http-handler.ts";
import { testAgent, textMessage } from "../test/faces.ts";
import { KINDS, PROTO } from "../test/spellings.ts";

let server: Server | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
  if (server?.listening === true) await once(server, "close");
});

async function open(): Promise<{ engine: ScriptedEngine; dial: () => Promise<Socket> }> {
  const engine = new ScriptedEngine();
  const { nodeHandler } = createHttpHandler({ agents: [testAgent()], engine, publicUrl: "http://x" });
  server = createServer(nodeHandler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dial = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  return { engine, dial };
}

/** Everything that comes until the other side closes or an answer is complete. */
async function answerOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const [head = "", body] = text.split("\r\n\r\n", 2);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (body !== undefined && Buffer.byteLength(text) - Buffer.byteLength(head) - 4 >= length) break;
  }
  return text;
}

const kinds = { message: { ...KINDS.base, parts: [{ kind: "text", text: "hällo €🙂" }] } };
const proto = { message: { ...PROTO.base, content: [{ text: "hällo €🙂" }] } };

/** A good send of every dialect. */
const SENDS = [
  ["1.0/jsonrpc", "/", { jsonrpc: "2.0", id: 1, method: "SendMessage", params: textMessage("hällo €🙂") }],
  ["0.3/jsonrpc", "/a2a", { jsonrpc: "2.0", id: 1, method: "message/send", params: kinds }],
  ["1.0/rest", "/message:send", textMessage("hällo €🙂")],
  ["0.3/rest-json", "/v1/message:send", kinds],
  ["0.3/rest-proto", "/v1/message:send", proto],
] as const;

function head(path: string, headers: readonly string[]): string {
  return [`POST ${path} HTTP/1.1`, "Host: x", "Content-Type: application/json", ...headers, "", ""].join("\r\n");
}

function chunked(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    chunks.push(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]));
  }
  return [...chunks, Buffer.from("0\r\n\r\n")];
}

describe("A body over a socket", () => {
  it.each(SENDS)("of %s may arrive byte by byte, in chunks or in pieces", async (dialect, path, body) => {
    const { engine, dial } = await open();
    const bytes = Buffer.from(JSON.stringify(body));
    const socket = await dial();
    socket.setNoDelay(true);
    socket.write(head(path, ["Transfer-Encoding: chunked"]));
    for (const chunk of chunked(bytes, 1)) socket.write(chunk);
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 200 /);
    socket.write(head(path, [`Content-Length: ${bytes.length}`]));
    for (const byte of bytes) {
      socket.write(Buffer.of(byte));
      // Sometimes wait, so that bytes are sent in separate packets.
      if (byte > 127) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 200 /);
    expect(engine.submissions).toHaveLength(2);
    for (const submission of engine.submissions) {
      expect(submission).toMatchObject({ call: { dialect }, request: { message: { parts: [{ text: "hällo €🙂" }] } } });
    }
  });

  it.each(SENDS)("of %s that is incomplete starts nothing", async (_dialect, path, body) => {
    const { engine, dial } = await open();
    const bytes = Buffer.from(JSON.stringify(body));
    for (const [headers, sent] of [
      [[`Content-Length: ${bytes.length}`], [bytes.subarray(0, -1)]],
      [[`Content-Length: ${bytes.length + 10}`], [bytes]],
      [["Transfer-Encoding: chunked"], chunked(bytes, 16).slice(0, -1)],
      [["Transfer-Encoding: chunked"], chunked(bytes, 16).slice(0, 2)],
    ] as const) {
      const socket = await dial();
      socket.write(head(path, headers));
      for (const piece of sent) socket.write(piece);
      socket.end();
      expect(await answerOf(socket)).not.toMatch(/^HTTP\/1\.1 [25]/);
    }
    expect(engine.submissions).toHaveLength(0);
  });

  it.each(SENDS)("of %s with a Content-Length that is too short is invalid JSON", async (_dialect, path, body) => {
    const { engine, dial } = await open();
    const bytes = Buffer.from(JSON.stringify(body));
    const cut = head(path, [`Content-Length: ${bytes.length - 3}`]);
    const socket = await dial();
    socket.write(Buffer.concat([Buffer.from(cut), bytes.subarray(0, -3)]));
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 400 [\s\S]*(-32700|PARSE_ERROR)/);
    // The remaining bytes are not a valid request either.
    const other = await dial();
    other.write(Buffer.concat([Buffer.from(cut), bytes]));
    expect(await answerOf(other)).toMatch(/^HTTP\/1\.1 400 /);
    expect(engine.submissions).toHaveLength(0);
  });

  it.each([
    ["a chunk without length", "Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n"],
    ["an endless length", "Content-Length: 99999999999999999999", "{}"],
    ["a negative length", "Content-Length: -1", "{}"],
    ["two lengths", "Content-Length: 2\r\nContent-Length: 3", "{}"],
    ["a length and chunks", "Content-Length: 2\r\nTransfer-Encoding: chunked", "0\r\n\r\n"],
    ["the same length twice", "Content-Length: 2\r\nContent-Length: 2", "{}"],
    ["a length with a sign", "Content-Length: +2", "{}"],
    ["a list of lengths", "Content-Length: 2, 2", "{}"],
    ["a space before the colon", "Content-Length : 2", "{}"],
    ["a folded header", "X-Folded: 1\r\n 2\r\nContent-Length: 2", "{}"],
    ["a folded transfer encoding", "Transfer-Encoding:\r\n chunked", "2\r\n{}\r\n0\r\n\r\n"],
    ["a header that ends in LF alone", "X-Header: 1\nContent-Length: 2", "{}"],
    ["a transfer encoding besides chunks", "Transfer-Encoding: gzip, chunked", "2\r\n{}\r\n0\r\n\r\n"],
    ["a transfer encoding after chunks", "Transfer-Encoding: chunked, identity", "2\r\n{}\r\n0\r\n\r\n"],
    ["two transfer encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"],
    ["a chunk whose length overflows", "Transfer-Encoding: chunked", "10000000000000002\r\n{}\r\n0\r\n\r\n"],
  ])("that cannot be framed is refused: %s", async (_name, headers, body) => {
    const { engine, dial } = await open();
    for (const [, path] of SENDS) {
      const socket = await dial();
      socket.write(head(path, [headers]) + body);
      expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    expect(engine.submissions).toHaveLength(0);
  });
});

describe("A request that a proxy may parse differently", () => {
  const send = JSON.stringify(textMessage("hello"));
  const length = `Content-Length: ${send.length}`;
  const chunks = `${send.length.toString(16)}\r\n${send}\r\n0\r\n\r\n`;

  it.each([
    ["two Host headers", "HTTP/1.1", ["Host: x", "Host: y", length], send],
    ["two equal Host headers", "HTTP/1.1", ["Host: x", "hOST: x", length], send],
    ["no Host header", "HTTP/1.1", [length], send],
    ["a Host of two names", "HTTP/1.1", ["Host: x, y", length], send],
    ["a Host with a path", "HTTP/1.1", ["Host: x/y", length], send],
    ["a Host with a user", "HTTP/1.1", ["Host: x@y", length], send],
    ["a Host with an invalid address", "HTTP/1.1", ["Host: [x]", length], send],
    ["chunks in HTTP/1.0", "HTTP/1.0", ["Host: x", "Connection: keep-alive", "Transfer-Encoding: chunked"], chunks],
  ] as const)("is refused with 400 and its connection closed: %s", async (...row) => {
    const [, version, headers, body] = row;
    const { engine, dial } = await open();
    for (const path of ["/", "/message:send", "/healthz", "/nowhere"]) {
      const socket = await dial();
      const head = [`POST ${path} ${version}`, "Content-Type: application/json", ...headers].join("\r\n");
      socket.write(`${head}\r\n\r\n${body}`);
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    }
    expect(engine.submissions).toHaveLength(0);
  });

  it.each([
    ["Host: example.org:8080", "HTTP/1.1"],
    ["Host: [2001:db8::1]:80", "HTTP/1.1"],
    ["Host: my_agent-1.local", "HTTP/1.1"],
    ["Host:", "HTTP/1.1"],
    ["X-Nothing: 1", "HTTP/1.0"],
  ])("is not suspected with %s in %s", async (host, version) => {
    const { engine, dial } = await open();
    const socket = await dial();
    const head = [`POST /message:send ${version}`, "Content-Type: application/json", host, length];
    socket.write(`${head.join("\r\n")}\r\nConnection: close\r\n\r\n${send}`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
    expect(engine.submissions).toHaveLength(1);
  });
});

describe("A request with an Expect header", () => {
  const body = JSON.stringify(textMessage("hello"));

  it.each([
    ["100-continue", /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /, 1],
    ["tea", /^HTTP\/1\.1 417 /, 0],
  ])("is answered: %s", async (expected, answer, submissions) => {
    const { engine, dial } = await open();
    const socket = await dial();
    const headers = [`Content-Length: ${body.length}`, `Expect: ${expected}`, "Connection: close"];
    socket.write(head("/message:send", headers) + body);
    expect(await text(socket)).toMatch(answer);
    expect(engine.submissions).toHaveLength(submissions);
  });
});

describe("A request line", () => {
  it.each([
    ["GET /tasks?%", 400],
    ["GET http://proxy.example/tasks", 200],
    ["GET http://proxy.example/tasks/nope?x=/healthz", 404],
    ["GET http://proxy.example?x=/healthz", 405],
    ["GET http://proxy.example", 405],
    ["OPTIONS *", 204],
    ["GET //tasks", 404],
    ["GET //proxy.example/tasks", 404],
    ["GET /../tasks", 404],
    ["GET /tasks/../healthz", 404],
    ["GET /%2e%2e/tasks", 200],
    ["GET /./tasks", 404],
    ["GET /tasks;x=1", 404],
    ["GET /tasks#x", 404],
    ["GET /tasks?x#y", 200],
    ["GET /tasks\\x", 404],
    ['GET /"tasks"', 404],
    ["GET /tasks/\u00e4", 400],
    [`GET /${"x".repeat(10_000)}`, 404],
    [`GET /tasks/${"x".repeat(10_000)}`, 400],
    [`GET /${"x".repeat(20_000)}`, 431],
    ["GET /tasks\0", 400],
    ["GET", 400],
    ["GET tasks", 400],
    ["FETCH /tasks", 400],
    ["PURGE /tasks", 405],
  ])("such as %j is answered with %d", async (line, status) => {
    const { dial } = await open();
    const socket = await dial();
    socket.write(Buffer.from(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, "latin1"));
    expect(Number(/^HTTP\/1\.1 (\d+)/.exec(await answerOf(socket))?.[1])).toBe(status);
  });
});
