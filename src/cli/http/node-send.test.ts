import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { neverSent } from "../../client/http/back-off.ts";
import { RemoteError } from "../../client/http/errors.ts";
import { HeaderFields } from "../../client/http/header-fields.ts";
import { exchange, readAll, readText } from "../../client/http/http.ts";
import { type HttpResponse, type Send, type SentRequest, senderOf } from "../../client/http/send.ts";
import { nodeSend } from "./node-send.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server with this handler; returns its URL. */
async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  // Safe: a server on a TCP port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that sends these bytes and closes the connection. */
async function sending(bytes: string): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(bytes));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  // Safe: a server on a TCP port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const request = (more: Partial<SentRequest> = {}): SentRequest => ({
  method: "GET",
  headers: new HeaderFields({ accept: "application/json" }),
  redirect: "manual",
  signal: new AbortController().signal,
  ...more,
});

const textOf = (response: HttpResponse, signal = new AbortController().signal): Promise<string> =>
  readAll(readText(response, { signal }), Number.POSITIVE_INFINITY);

describe.each<[string, Send]>([
  ["node:http", nodeSend],
  ["fetch", senderOf({})],
])("A request by %s", (_way, send) => {
  it("has the method, the headers and the body, and gets status, headers, URL and body", async () => {
    const received: unknown[] = [];
    const url = await serving((incoming, response) => {
      let body = "";
      incoming.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      incoming.on("end", () => {
        const { method, url: path, headers } = incoming;
        received.push([method, path, headers["x-key"], headers["content-length"], headers["user-agent"], body]);
        response.writeHead(201, "Made", [
          ...["X-Twice", "a", "x-twice", "b"],
          ...["Set-Cookie", "c=1", "Set-Cookie", "d=2", "X-Latin", "caf\u00e9"],
        ]);
        response.end("Grüße");
      });
    });
    const headers = new HeaderFields({ "x-key": "é" });
    const response = await send(`${url}/a?b=c`, request({ method: "POST", headers, body: "äöü" }));
    expect(received).toEqual([["POST", "/a?b=c", "é", "6", "node", "äöü"]]);
    expect(response).toMatchObject({ status: 201, statusText: "Made", ok: true, url: `${url}/a?b=c` });
    expect(response.headers.get("X-TWICE")).toBe("a, b");
    expect(response.headers.get("x-latin")).toBe("café");
    expect(response.headers.getSetCookie()).toEqual(["c=1", "d=2"]);
    expect(await textOf(response)).toBe("Grüße");
  });

  it("sends bytes as they are", async () => {
    const received: Buffer[] = [];
    const url = await serving((incoming, response) => {
      incoming.on("data", (chunk: Buffer) => received.push(chunk)).on("end", () => response.end());
    });
    await send(url, request({ method: "POST", body: new Uint8Array([0, 255, 10]) }));
    expect([...Buffer.concat(received)]).toEqual([0, 255, 10]);
  });

  it.each([
    ["gzip", gzipSync("compressed")],
    ["x-gzip", gzipSync("compressed")],
    ["deflate", deflateSync("compressed")],
    ["br", brotliCompressSync("compressed")],
    ["deflate, gzip", gzipSync(deflateSync("compressed"))],
  ])("gets the content of a body in the coding %s", async (coding, bytes) => {
    const url = await serving((_incoming, response) => {
      response.writeHead(200, { "content-encoding": coding }).end(bytes);
    });
    expect(await textOf(await send(url, request()))).toBe("compressed");
  });

  it("gets the pieces of a compressed body as soon as they are sent", async () => {
    const url = await serving((_incoming, response) => {
      const gzip = createGzip();
      response.writeHead(200, { "content-encoding": "gzip" });
      gzip.pipe(response);
      gzip.write("first");
      gzip.flush();
    });
    const response = await send(url, request());
    const reader = readText(response, { signal: new AbortController().signal });
    expect(await reader.next()).toBe("first");
    reader.cancel();
  });

  it("gets an empty body with 304, whatever its headers say", async () => {
    const url = await serving((_incoming, response) => {
      response.writeHead(304, { "content-encoding": "gzip", etag: '"1"' }).end();
    });
    expect(await textOf(await send(url, request()))).toBe("");
  });

  it("returns a redirect without following it", async () => {
    let requests = 0;
    const url = await serving((_incoming, response) => {
      requests += 1;
      response.writeHead(302, { location: "/elsewhere" }).end();
    });
    const response = await send(url, request());
    expect([response.status, response.headers.get("location"), requests]).toEqual([302, "/elsewhere", 1]);
    await response.body?.cancel();
  });

  it("reads from the connection only as fast as its reader", async () => {
    let written = 0;
    const url = await serving((_incoming, response) => {
      const more = (): void => {
        for (let free = true; free; written += 65_536) free = response.write("x".repeat(65_536));
        response.once("drain", more);
      };
      more();
    });
    const response = await send(url, request());
    const reader = readText(response, { signal: new AbortController().signal });
    await reader.next();
    let before = -1;
    // The buffers of both ends fill up; then nothing more is written.
    while (before !== written) {
      before = written;
      await new Promise((done) => setTimeout(done, 200));
    }
    const stopped = written;
    for (let pieces = 0; pieces < 2000 && written === stopped; pieces++) await reader.next();
    expect(written).toBeGreaterThan(stopped);
    reader.cancel();
  });

  it("closes the connection when the reader cancels", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const url = await serving((_incoming, response) => {
      response.on("close", resolve).write("more follows");
    });
    const reader = readText(await send(url, request()), { signal: new AbortController().signal });
    expect(await reader.next()).toBe("more follows");
    reader.cancel();
    await closed;
  });

  it("is ended by its signal, before and after the response", async () => {
    let answers = false;
    const closed: Promise<unknown>[] = [];
    const url = await serving((_incoming, response) => {
      closed.push(once(response, "close"));
      if (answers) response.write("more follows");
    });
    const early = new AbortController();
    const waiting = send(url, request({ signal: early.signal }));
    setTimeout(() => early.abort(), 50);
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    answers = true;
    const late = new AbortController();
    const response = await send(url, request({ signal: late.signal }));
    const reader = response.body?.getReader();
    await reader?.read();
    const next = reader?.read();
    late.abort();
    await expect(next).rejects.toThrow();
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it("is `network` and certainly not sent if nobody listens", async () => {
    const url = await serving(() => {});
    for (const close of closing.splice(0)) close();
    const asked = exchange({ send, guard: undefined }, { ...request(), method: "GET", url: new URL(url) });
    const error = await asked.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: "network", message: expect.stringContaining("ECONNREFUSED") });
    expect(error instanceof RemoteError && neverSent(error)).toBe(true);
  });

  it.each([
    ["is closed without an answer", ""],
    ["answers with something else than HTTP", "220 mail.example ESMTP\r\n"],
  ])("fails if the connection %s", async (_what, bytes) => {
    const url = await sending(bytes);
    await expect(send(url, request())).rejects.toThrow();
  });

  it("fails to read a body whose connection breaks, after the pieces that arrived", async () => {
    const url = await sending("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
    const reader = readText(await send(url, request()), { signal: new AbortController().signal });
    expect(await reader.next()).toBe("half");
    await expect(reader.next()).rejects.toMatchObject({ code: "network" });
  });

  it.each(["http://user:secret@127.0.0.1:1/", "ftp://127.0.0.1/"])("is not sent to %s", async (url) => {
    await expect(send(url, request())).rejects.toThrow(TypeError);
  });
});
