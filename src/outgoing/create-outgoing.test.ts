import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, it, vi } from "vitest";
import { connect as connectAgent } from "../client/connect.ts";
import type { Lookup, Outgoing, OutgoingOptions } from "./contract.ts";
import { createOutgoing } from "./create-outgoing.ts";
import { watchSocket } from "./guarded-agents.ts";
import { Rules } from "./rules.ts";
import { CERTIFICATE, PRIVATE_KEY } from "./test/certificate.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Represents the public internet in these tests: the only allowed address. */
const PUBLIC = "127.0.0.2";

function outgoing(options: OutgoingOptions = {}): Outgoing {
  const made = createOutgoing({ http: true, allow: [PUBLIC], ...options });
  cleanUps.push(() => made.close());
  return made;
}

async function listen<S extends Server | TcpServer>(server: S, address = PUBLIC, port = 0): Promise<number> {
  await new Promise<void>((done) => server.listen(port, address, done));
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => void sockets.add(socket));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  // Safe: it listens on a port.
  return (server.address() as AddressInfo).port;
}

const serve = (answer: RequestListener, address?: string, port?: number): Promise<number> =>
  listen(createHttpServer(answer), address, port);

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text;
}

describe("beforeSend of a request", () => {
  const https = () => createHttpsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (_, response) => response.end("ok"));
  const http = () => createHttpServer((_, response) => response.end("ok"));
  it.each([
    ["http:", http],
    ["https:", https],
  ] as const)(
    "is called when the connection is open; after an abort the server receives nothing: %s",
    async (scheme, make) => {
      const server = make();
      const requests: string[] = [];
      const opened: string[] = [];
      server.on("request", ({ method }) => void requests.push(method ?? ""));
      server.on("connection", () => void opened.push("open"));
      const port = await listen(server);
      const { fetch } = outgoing({ ca: CERTIFICATE, lookup: async () => [PUBLIC] });
      const url = `${scheme}//hooks.example.org:${port}/`;
      const abort = new AbortController();
      const wasOpen: number[] = [];
      const refused = fetch(url, { method: "POST", body: "x", signal: abort.signal, beforeSend: () => abort.abort() });
      await expect(refused).rejects.toThrow("aborted");
      await vi.waitFor(() => expect(opened).toHaveLength(1));
      for (let count = 0; count < 2; count++) {
        const beforeSend = (): void => void wasOpen.push(requests.length);
        const response = await fetch(url, { method: "POST", body: "x", beforeSend });
        expect(await response.text()).toBe("ok");
      }
      expect([requests, wasOpen]).toEqual([
        ["POST", "POST"],
        [0, 1],
      ]);
    },
  );
});

describe("a request to an untrusted address", () => {
  it("is sent and answered as with the standard fetch", async () => {
    const port = await serve((request, response) => {
      const { method, url, headers } = request;
      response.setHeader("x-twice", ["a", "b"]);
      void textOf(request).then((body) => response.end(JSON.stringify({ method, url, headers, body })));
    });
    const url = `http://hooks.example.org:${port}/in?a=1`;
    const { fetch } = outgoing({ lookup: async () => [PUBLIC] });
    const response = await fetch(url, {
      method: "POST",
      body: "grüße",
      headers: {
        authorization: "Bearer x",
        "content-type": "application/json",
        host: "evil.example.org",
        "transfer-encoding": "chunked",
        "accept-encoding": "gzip",
      },
    });
    expect([response.status, response.url, response.headers.get("x-twice")]).toEqual([200, url, "a, b"]);
    expect(await response.json()).toMatchObject({
      method: "POST",
      url: "/in?a=1",
      body: "grüße",
      headers: {
        host: `hooks.example.org:${port}`,
        authorization: "Bearer x",
        "content-length": "7",
        "accept-encoding": "identity",
      },
    });
  });

  it("works as the fetch of the client", async () => {
    const port = await serve((_request, response) => response.writeHead(404).end());
    const { fetch } = outgoing();
    await expect(connectAgent(`http://${PUBLIC}:${port}`, { fetch })).rejects.toMatchObject({ code: "card-not-found" });
    await expect(connectAgent("http://10.0.0.1", { fetch })).rejects.toThrow();
  });

  it("uses the host name for TLS although the connection is pinned to an address", async () => {
    const names: unknown[] = [];
    const port = await listen(
      createHttpsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) => {
        // Safe: it came over TLS.
        names.push((request.socket as TLSSocket).servername);
        response.end("ok");
      }),
    );
    const { fetch } = outgoing({ lookup: async () => [PUBLIC], ca: CERTIFICATE });
    expect(await (await fetch(`https://hooks.example.org:${port}/`)).text()).toBe("ok");
    expect(names).toEqual(["hooks.example.org"]);
    await expect(fetch(`https://other.example.org:${port}/`)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("ERR_TLS_CERT_ALTNAME_INVALID"),
    });
    const untrusting = outgoing({ lookup: async () => [PUBLIC] });
    await expect(untrusting.fetch(`https://hooks.example.org:${port}/`)).rejects.toMatchObject({ code: "unreachable" });
  });

  it("ignores proxies from environment variables", async () => {
    const port = await serve((_request, response) => response.end("direct"));
    vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:1");
    vi.stubEnv("http_proxy", "http://127.0.0.1:1");
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    cleanUps.push(() => vi.unstubAllEnvs());
    expect(await (await outgoing().fetch(`http://${PUBLIC}:${port}/`)).text()).toBe("direct");
  });

  it("reuses a connection for the same origin", async () => {
    const sockets = new Set<Socket>();
    const port = await serve((request, response) => {
      sockets.add(request.socket);
      response.end("ok");
    });
    const lookup = vi.fn<Lookup>(async () => [PUBLIC]);
    const { fetch } = outgoing({ lookup });
    for (let index = 0; index < 3; index += 1) await (await fetch(`http://hooks.example.org:${port}/`)).text();
    expect([sockets.size, lookup.mock.calls.length]).toEqual([1, 1]);
  });

  it("is repeated if a reused connection was just closed and the method is safe", async () => {
    let served = 0;
    const port = await serve((request, response) => {
      served += 1;
      response.end("ok", () => {
        // Closed without an answer, after the connection went back to its pool.
        if (served % 2 === 1) setTimeout(() => request.socket.resetAndDestroy(), 0);
      });
    });
    const { fetch } = outgoing();
    for (let index = 0; index < 4; index += 1) {
      expect(await (await fetch(`http://${PUBLIC}:${port}/`)).text()).toBe("ok");
    }
  });
});

describe("the address of a host name", () => {
  async function inside(): Promise<{ readonly port: number; readonly asked: () => number }> {
    let asked = 0;
    const server = createTcpServer((socket) => {
      asked += 1;
      socket.destroy();
    });
    return { port: await listen(server, "127.0.0.1"), asked: () => asked };
  }

  it.each([
    ["127.0.0.1"],
    ["::1"],
    ["0.0.0.0"],
    ["::ffff:127.0.0.1"],
    ["169.254.169.254"],
    ["10.0.0.1"],
    ["fe80::1%lo"],
    ["::"],
    ["not an address"],
  ])("is refused if it is %s", async (address) => {
    const { port, asked } = await inside();
    const { fetch } = outgoing({ lookup: async () => [address] });
    await expect(fetch(`http://hooks.example.org:${port}/?secret`)).rejects.toMatchObject({
      name: "OutgoingRefused",
      code: "private-address",
      message: "hooks.example.org is not allowed: its address is not on the public internet.",
    });
    expect(asked()).toBe(0);
  });

  it.each([[[PUBLIC, "127.0.0.1"]], [["127.0.0.1", PUBLIC]]])(
    "is refused if one of %j is not public",
    async (addresses) => {
      const { port, asked } = await inside();
      const { fetch } = outgoing({ lookup: async () => addresses });
      await expect(fetch(`http://hooks.example.org:${port}/`)).rejects.toMatchObject({ code: "private-address" });
      expect(asked()).toBe(0);
    },
  );

  it("is checked for every connection, so that DNS rebinding does not help an attacker", async () => {
    let entered = 0;
    // The host that nobody may reach listens first: on its address other processes have ports, too.
    const port = await serve((_request, response) => {
      entered += 1;
      response.end("inside");
    }, "127.0.0.1");
    await serve((_request, response) => response.setHeader("connection", "close").end("outside"), PUBLIC, port);
    const answers = [[PUBLIC], ["127.0.0.1"]];
    const { fetch } = outgoing({ lookup: async () => answers.shift() ?? [] });
    expect(await (await fetch(`http://hooks.example.org:${port}/`)).text()).toBe("outside");
    await expect(fetch(`http://hooks.example.org:${port}/`)).rejects.toMatchObject({ code: "private-address" });
    expect(entered).toBe(0);
  });

  it("is resolved once per connection, and the connection goes to the resolved address", async () => {
    const port = await serve((request, response) => response.end(request.socket.localAddress));
    const lookup = vi.fn<Lookup>().mockResolvedValueOnce([PUBLIC]).mockResolvedValue(["127.0.0.1"]);
    const { fetch } = outgoing({ lookup });
    expect(await (await fetch(`http://hooks.example.org:${port}/`)).text()).toBe(PUBLIC);
    expect(lookup.mock.calls).toEqual([["hooks.example.org"]]);
  });

  it("is checked again on the open socket before anything is written", async () => {
    let received = "";
    const port = await listen(
      createTcpServer((socket) => {
        socket.on("data", (data) => {
          received += String(data);
        });
        socket.on("error", () => {});
      }),
      "127.0.0.1",
    );
    const socket = connect(port, "127.0.0.1");
    const failed = new Promise((resolve) => socket.on("error", resolve));
    watchSocket(socket, {
      rules: new Rules(),
      target: { hostname: "hooks.example.org", port },
      connectTimeout: 10_000,
      ready: "connect",
    });
    socket.write("POST / HTTP/1.1");
    expect(await failed).toMatchObject({ name: "OutgoingRefused", code: "private-address" });
    expect(received).toBe("");
  });

  it("fails as unreachable if it does not exist or nothing listens there", async () => {
    const { fetch } = outgoing({ lookup: async () => [] });
    await expect(fetch("http://hooks.example.org/")).rejects.toMatchObject({
      name: "OutgoingFailure",
      code: "unreachable",
    });
    const failing = outgoing({
      lookup: () => Promise.reject(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" })),
    });
    await expect(failing.fetch("http://hooks.example.org/")).rejects.toMatchObject({
      name: "OutgoingFailure",
      code: "unreachable",
      message: "hooks.example.org cannot be reached (ENOTFOUND).",
    });
  });

  it("is resolved by the system by default", async () => {
    const port = await serve((_request, response) => response.end("ok"), "127.0.0.1");
    expect(await (await outgoing({ allow: ["loopback"] }).fetch(`http://localhost:${port}/`)).text()).toBe("ok");
  });

  it("fails as unreachable if the URL contains an address with a closed port", async () => {
    const { port, asked } = await inside();
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"]) {
      await expect(outgoing().fetch(`http://${host}:${port}/`), host).rejects.toMatchObject({
        code: "private-address",
      });
    }
    expect(asked()).toBe(0);
  });
});

describe("a redirect", () => {
  const sendOn = (location: string, status = 302): Promise<number> =>
    serve((request, response) => {
      if (/^\/(\?|$)/.test(request.url ?? "")) response.writeHead(status, { location }).end();
      else response.end(`${request.method} ${request.url}`);
    });

  it("is followed within its origin", async () => {
    const { fetch } = outgoing();
    const port = await sendOn("/there");
    const response = await fetch(`http://${PUBLIC}:${port}/`);
    expect([await response.text(), response.url]).toEqual(["GET /there", `http://${PUBLIC}:${port}/there`]);
    const keeping = await sendOn("/there", 307);
    expect(await (await fetch(`http://${PUBLIC}:${keeping}/`, { method: "POST", body: "x" })).text()).toBe(
      "POST /there",
    );
  });

  it.each([301, 302, 303])("with HTTP %i does not turn a POST into a GET", async (status) => {
    const port = await sendOn("/there", status);
    const sent = outgoing().fetch(`http://${PUBLIC}:${port}/`, { method: "POST", body: "x" });
    await expect(sent).rejects.toMatchObject({ code: "redirect", message: expect.stringContaining(`HTTP ${status}`) });
  });

  it.each([
    "http://169.254.169.254/latest/meta-data",
    "//127.0.0.1/",
    "https://agents.example.org/",
    "ftp://x/",
    "http://[",
  ])("to %s is refused", async (location) => {
    const port = await sendOn(location);
    await expect(outgoing().fetch(`http://${PUBLIC}:${port}/?secret`)).rejects.toMatchObject({
      name: "OutgoingRefused",
      code: "redirect",
      message: `${PUBLIC}:${port} redirects to another origin, which is not followed.`,
    });
  });

  it("is refused with redirect: error, and returned with redirect: manual", async () => {
    const port = await sendOn("/there");
    await expect(outgoing().fetch(`http://${PUBLIC}:${port}/`, { redirect: "error" })).rejects.toMatchObject({
      code: "redirect",
    });
    expect((await outgoing().fetch(`http://${PUBLIC}:${port}/`, { redirect: "manual" })).status).toBe(302);
  });

  it("is followed at most three times", async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked += 1;
      response.writeHead(302, { location: `/${asked}` }).end();
    });
    await expect(outgoing().fetch(`http://${PUBLIC}:${port}/`)).rejects.toMatchObject({ code: "redirect" });
    expect(asked).toBe(4);
  });
});

describe("a request to a malicious server fails if it", () => {
  it("sends more than maxBytes", async () => {
    let closed = (): void => {};
    const gone = new Promise<void>((done) => {
      closed = done;
    });
    const port = await serve((_request, response) => {
      const chunk = "x".repeat(65_536);
      const more = (): void => {
        while (response.write(chunk));
      };
      response.on("drain", more).on("close", closed);
      more();
    });
    const { fetch } = outgoing({ maxBytes: 200_000 });
    await expect((await fetch(`http://${PUBLIC}:${port}/`)).text()).rejects.toMatchObject({
      name: "OutgoingFailure",
      code: "too-large",
    });
    await gone;
  });

  it.each([
    ["nothing", ""],
    ["half a header", "HTTP/1.1 200 OK\r\ncontent-"],
    ["an incomplete body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"],
  ])("sends %s and hangs", async (_what, text) => {
    const port = await listen(createTcpServer((socket) => void socket.on("error", () => {}).write(text)));
    const { fetch } = outgoing({ timeout: 50 });
    const read = async (): Promise<string> => (await fetch(`http://${PUBLIC}:${port}/?secret`)).text();
    await expect(read()).rejects.toMatchObject({
      name: "OutgoingFailure",
      code: "timeout",
      message: `${PUBLIC}:${port} did not answer in time.`,
    });
  });

  it("accepts the connection and never finishes the TLS handshake", async () => {
    const port = await listen(createTcpServer((socket) => void socket.on("error", () => {})));
    await expect(outgoing({ connectTimeout: 50 }).fetch(`https://${PUBLIC}:${port}/`)).rejects.toMatchObject({
      code: "timeout",
      message: `${PUBLIC} did not accept the connection in time.`,
    });
  });

  it.each([
    ["something other than HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["an invalid status", "HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n"],
    ["a body that ends early", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"],
    ["an unrequested protocol switch", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
    ["two content-length headers", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
    ["endless headers", `HTTP/1.1 200 OK\r\n${"x-pad: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(2000)}`],
  ])("sends %s", async (_what, text) => {
    const port = await listen(createTcpServer((socket) => void socket.on("error", () => {}).end(text)));
    const read = async (): Promise<string> => (await outgoing().fetch(`http://${PUBLIC}:${port}/`)).text();
    await expect(read()).rejects.toMatchObject({
      name: "OutgoingFailure",
      code: expect.stringMatching(/broken|unreachable/),
    });
  });
});

describe("a caller that aborts", () => {
  it("gets its reason immediately, and the connection is closed", async () => {
    let closed = (): void => {};
    const gone = new Promise<void>((done) => {
      closed = done;
    });
    const controller = new AbortController();
    const port = await serve((_request, response) => {
      response.on("close", closed);
      controller.abort(new Error("enough"));
    });
    await expect(outgoing().fetch(`http://${PUBLIC}:${port}/`, { signal: controller.signal })).rejects.toThrow(
      "enough",
    );
    await gone;
    await expect(outgoing().fetch(`http://${PUBLIC}:${port}/`, { signal: controller.signal })).rejects.toThrow(
      "enough",
    );
  });

  it("may abort in the middle of the body", async () => {
    const controller = new AbortController();
    const port = await serve((_request, response) => void response.write("first"));
    const response = await outgoing().fetch(`http://${PUBLIC}:${port}/`, { signal: controller.signal });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
    controller.abort(new Error("enough"));
    await expect(reader?.read()).rejects.toThrow("enough");
  });

  it("may close all connections", async () => {
    const made = outgoing();
    const port = await serve(() => made.close());
    await expect(made.fetch(`http://${PUBLIC}:${port}/`)).rejects.toMatchObject({ code: "broken" });
  });
});
