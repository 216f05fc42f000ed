import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { type ArrivalTimeouts, Listener, type PortHandlers } from "./listener.ts";
import { servingTlsFrom } from "./security/security-tls.ts";
import { createAuthority } from "./test/certificate-authority.ts";

const open = new Set<Listener>();
afterEach(async () => {
  for (const listener of open) await listener.close();
  open.clear();
});

function onlyHttp1(http1: PortHandlers["http1"]): PortHandlers {
  return { http1, http2: ({ stream }) => stream.close() };
}

/** Sends this text on a connection and nothing more. Returns the response. */
async function responseTo(port: number, sent: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(sent);
  return text(socket);
}

describe("A listener", () => {
  it("answers 408 to slow headers and bodies, and serves other requests", async () => {
    let handled = 0;
    const listener = new Listener(
      onlyHttp1((request, response) => {
        handled += 1;
        request.resume();
        request.on("end", () => response.end("read"));
      }),
      { head: 100, whole: 300 },
    );
    open.add(listener);
    const { port, url } = await listener.listen("127.0.0.1", 0);
    const slowHead = responseTo(port, "POST / HTTP/1.1\r\nhost: x\r\n");
    const slowBody = responseTo(port, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf");
    const silent = responseTo(port, "");
    expect(await (await fetch(url, { method: "POST", body: "whole" })).text()).toBe("read");
    expect(await slowHead).toMatch(/^HTTP\/1\.1 408 /);
    expect(await slowBody).toMatch(/^HTTP\/1\.1 408 /);
    expect(await silent).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(handled).toBe(2);
  });

  it("reads a request that arrives byte by byte, and a method that begins like the preface of HTTP/2", async () => {
    const listener = new Listener(
      onlyHttp1((request, response) => response.end(`${request.method} ${request.url}`)),
      { head: 2000, whole: 2000 },
    );
    open.add(listener);
    const { port } = await listener.listen("127.0.0.1", 0);
    for (const method of ["GET", "PROPFIND", "PUT"]) {
      const socket = connect(port, "127.0.0.1");
      socket.setNoDelay(true);
      await once(socket, "connect");
      for (const byte of Buffer.from(`${method} /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)) {
        socket.write(Uint8Array.of(byte));
        await new Promise(setImmediate);
      }
      expect(await text(socket)).toContain(`${method} /x`);
    }
  });

  it("closes a connection whose response ends while it closes, and goes on with the others", async () => {
    const responses = new Map<string | undefined, ServerResponse>();
    const listener = new Listener(
      onlyHttp1((request, response) => {
        responses.set(request.url, response);
        response.write("first ");
      }),
      { head: 60_000, whole: 60_000 },
    );
    open.add(listener);
    const { port } = await listener.listen("127.0.0.1", 0);
    const [ending, lasting] = ["/ending", "/lasting"].map((path) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`));
      return { first: once(socket, "data"), rest: text(socket) };
    });
    await Promise.all([ending?.first, lasting?.first]);
    const closed = listener.close();
    responses.get("/ending")?.end("last");
    expect(await ending?.rest).toContain("last");
    responses.get("/lasting")?.end("later");
    expect(await lasting?.rest).toContain("later");
    await closed;
  });

  it("closes connections that have sent nothing when it closes", async () => {
    const listener = new Listener(
      onlyHttp1((_request, response) => response.end()),
      { head: 60_000, whole: 60_000 },
    );
    const { port } = await listener.listen("127.0.0.1", 0);
    const silent = responseTo(port, "");
    const begun = responseTo(port, "P");
    await fetch(`http://127.0.0.1:${port}/`);
    await listener.close();
    expect(await Promise.all([silent, begun])).toEqual(["", ""]);
  });

  it("does not limit the time of a response", async () => {
    const listener = new Listener(
      onlyHttp1((_request, response) => {
        response.write("begun,");
        setTimeout(() => response.end("done"), 1500);
      }),
      { head: 100, whole: 200 },
    );
    open.add(listener);
    const { url } = await listener.listen("127.0.0.1", 0);
    expect(await (await fetch(url)).text()).toBe("begun,done");
  });
});

describe("A listener, over HTTP/2", () => {
  const answering: PortHandlers["http2"] = ({ stream }) => {
    stream.on("error", () => undefined);
    stream.resume();
    stream.on("end", () => {
      if (stream.closed) return;
      stream.respond({ ":status": 200 });
      stream.end("read");
    });
  };

  async function listening(timeouts: ArrivalTimeouts, http2 = answering): Promise<{ url: string; listener: Listener }> {
    const listener = new Listener({ http1: (_request, response) => response.end("one"), http2 }, timeouts);
    open.add(listener);
    return { listener, url: (await listener.listen("127.0.0.1", 0)).url };
  }

  async function status(session: ClientHttp2Session, body: string | undefined): Promise<number | undefined> {
    const stream = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    stream.on("error", () => undefined);
    if (body === undefined) stream.write("half");
    else stream.end(body);
    let answered: number | undefined;
    stream.on("response", (headers) => {
      answered = headers[":status"];
    });
    stream.resume();
    await once(stream, "close");
    return answered;
  }

  it("serves both versions of HTTP on one port", async () => {
    const { url } = await listening({ head: 1000, whole: 1000 });
    expect(await (await fetch(url)).text()).toBe("one");
    const session = connectHttp2(url);
    expect(await status(session, "whole")).toBe(200);
    session.close();
  });

  it("accepts a preface that arrives byte by byte", async () => {
    const { url } = await listening({ head: 2000, whole: 2000 });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.setNoDelay(true);
    await once(socket, "connect");
    for (const byte of Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) {
      socket.write(Uint8Array.of(byte));
      await new Promise(setImmediate);
    }
    socket.write(Buffer.from("000000040000000000", "hex"));
    const [settings] = (await once(socket, "data")) as [Buffer];
    // The server's own SETTINGS frame.
    expect(settings[3]).toBe(4);
    socket.destroy();
  });

  it("answers 408 to a slow body, and serves other requests of the connection", async () => {
    const { url } = await listening({ head: 100, whole: 300 });
    const session = connectHttp2(url);
    const slow = status(session, undefined);
    expect(await status(session, "whole")).toBe(200);
    expect(await slow).toBe(408);
    session.close();
  });

  it("closes a connection without a request", async () => {
    const { url } = await listening({ head: 100, whole: 300 });
    const session = connectHttp2(url);
    session.on("error", () => undefined);
    await once(session, "close");
  });

  it("tells callers to go away when it closes, and lets their requests finish", async () => {
    const begun = Promise.withResolvers<void>();
    const { url, listener } = await listening({ head: 1000, whole: 1000 }, ({ stream }) => {
      stream.respond({ ":status": 200 });
      begun.resolve();
      setTimeout(() => stream.end("late"), 200);
    });
    const session = connectHttp2(url);
    const goneAway = once(session, "goaway");
    const stream = session.request({ ":path": "/" });
    await begun.promise;
    const closing = listener.close();
    expect((await goneAway)[0]).toBe(0);
    expect(await text(stream)).toBe("late");
    await closing;
  });
});

describe("A listener with TLS", () => {
  const authority = createAuthority("Tests");
  const timeouts = { head: 100, whole: 300 };

  async function listening(): Promise<number> {
    const handlers: PortHandlers = {
      http1: (request, response) => request.resume().on("end", () => response.end("one")),
      http2: ({ stream }) => stream.on("error", () => undefined).resume(),
    };
    const listener = new Listener(handlers, timeouts, servingTlsFrom(authority.issue({ commonName: "server" })));
    open.add(listener);
    return (await listener.listen("127.0.0.1", 0)).port;
  }

  /** What a caller receives that sends this text after the handshake and nothing more. */
  async function secureResponseTo(port: number, sent: string, protocol: "h2" | "http/1.1"): Promise<string> {
    const tls = connectTls({ port, host: "127.0.0.1", ca: authority.cert, ALPNProtocols: [protocol] });
    await once(tls, "secureConnect");
    expect(tls.alpnProtocol).toBe(protocol);
    if (sent !== "") tls.write(sent);
    return text(tls);
  }

  it("closes a connection without a handshake", async () => {
    const socket = connect(await listening(), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.resume();
    await once(socket, "close");
  });

  it("answers 408 to slow headers and bodies of HTTP/1", async () => {
    const port = await listening();
    const slow = ["POST / HTTP/1.1\r\nhost: x\r\n", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf"];
    for (const sent of slow) expect(await secureResponseTo(port, sent, "http/1.1")).toMatch(/^HTTP\/1\.1 408 /);
    expect(await secureResponseTo(port, "", "http/1.1")).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it("closes an HTTP/2 connection without a request", async () => {
    const port = await listening();
    await secureResponseTo(port, "", "h2");
    await secureResponseTo(port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "h2");
  });

  it("answers 408 to a slow body of HTTP/2", async () => {
    const session = connectHttp2(`https://127.0.0.1:${await listening()}`, { ca: authority.cert });
    const stream = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    stream.on("error", () => undefined);
    stream.write("half");
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(408);
    session.destroy();
  });
});
