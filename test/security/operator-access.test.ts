import { request } from "node:http";
import { connect } from "node:http2";
import { agent, createServer, type Server, type ServerOptions } from "palaver";
import { apiKeys } from "palaver/auth";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditRecord } from "../../src/platform/security/audit-log.ts";
import { SILENT } from "./attack-surface.ts";

/** Who may read metrics and use the operator API: only programs on this machine, unless the operator allows more. */

const TOKEN = "plo_the-token-of-this-machine";
const echo = agent({
  id: "echo",
  name: "Echo",
  description: "Repeats.",
  version: "1.0.0",
  run: (task) => Promise.resolve(task.text),
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function started(options: ServerOptions): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(echo, {
    ...{ port: 0, store: "memory:", logger: SILENT },
    // With a public URL the listener accepts every host name, so these rules alone must refuse the wrong ones.
    publicUrl: "https://agents.example",
    ...options,
  });
  return { server, port: (await server.listen()).port };
}

function ask(port: number, path: string, { method = "GET", headers = {}, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    outgoing.on("error", reject).end(body);
  });
}

function askHttp2(port: number, headers: Readonly<Record<string, string>>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on("error", reject);
    const stream = session.request(headers);
    let [status, body] = [0, ""];
    stream.on("response", (answer) => (status = Number(answer[":status"])));
    stream.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    stream.on("end", () => {
      session.close();
      resolve({ status, body });
    });
    stream.on("error", reject).end();
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const AUTHORIZED = bearer(TOKEN);

/** Requests that must not be answered, although the sender may know the token. Without a status: 403. */
const ATTACKS: Readonly<Record<string, Sent & { readonly status?: readonly number[] }>> = {
  "a host name that resolves to this machine (DNS rebinding)": {
    headers: { host: "evil.example" },
    status: [403, 421],
  },
  "a host name that begins like a loopback name": { headers: { host: "localhost.evil.example" }, status: [403, 421] },
  "a host name that begins like a loopback address": {
    headers: { host: "127.0.0.1.evil.example" },
    status: [403, 421],
  },
  "a host name in a private zone": { headers: { host: "metrics.internal" } },
  "a host name without dots": { headers: { host: "server" } },
  "a loopback address with a part over 255": { headers: { host: "127.0.0.999" }, status: [403, 421] },
  "the address 0.0.0.0": { headers: { host: "0.0.0.0" } },
  "another address": { headers: { host: "10.0.0.1" } },
  "a user name before the host": { headers: { host: "localhost@evil.example" }, status: [403, 421, 400] },
  "X-Forwarded-For of this machine": { headers: { "x-forwarded-for": "127.0.0.1" } },
  "X-Forwarded-For of a stranger": { headers: { "x-forwarded-for": "203.0.113.9" } },
  "an empty X-Forwarded-For": { headers: { "x-forwarded-for": "" } },
  "X-Forwarded-Host": { headers: { "x-forwarded-host": "localhost" } },
  Forwarded: { headers: { forwarded: "for=127.0.0.1;host=localhost" } },
  "X-Real-IP": { headers: { "x-real-ip": "127.0.0.1" } },
  Via: { headers: { via: "1.1 proxy" } },
  "CF-Connecting-IP": { headers: { "cf-connecting-ip": "203.0.113.9" } },
  "a web page of another origin": { headers: { origin: "https://evil.example" } },
  "a web page of another port": { headers: { origin: "http://127.0.0.1:1" } },
  "a sandboxed page": { headers: { origin: "null" } },
  "a page of another site without Origin": { headers: { "sec-fetch-site": "cross-site" } },
  "a page of the same site on another port": { headers: { "sec-fetch-site": "same-site" } },
};

describe("The operator API", () => {
  let port = 0;
  let server: Server;
  const audited: AuditRecord[] = [];
  beforeAll(async () => {
    ({ server, port } = await started({ operator: { token: TOKEN }, audit: (record) => audited.push(record) }));
  });
  afterAll(() => server.close());

  it("answers a program on this machine that has the token, without CORS, and nobody may keep the answer", async () => {
    const { status, headers, body } = await ask(port, "/operator/v1/tasks", { headers: AUTHORIZED });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ tasks: [] });
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    for (const host of ["localhost", `localhost:${port}`, `127.0.0.1:${port}`, "[::1]"])
      expect((await ask(port, "/operator/v1/tasks", { headers: { ...AUTHORIZED, host } })).status).toBe(200);
  });

  it.each(Object.entries(ATTACKS))("refuses %s", async (_name, { headers, status = [403] }) => {
    const answer = await ask(port, "/operator/v1/tasks", { headers: { ...AUTHORIZED, ...headers } });
    expect(status).toContain(answer.status);
    expect(answer.body).not.toContain('"tasks"');
  });

  it.each([
    ["no token", {}],
    ["a wrong token", bearer("plo_another-token-of-this-machine")],
    ["an empty token", { authorization: "Bearer " }],
    ["the beginning of the token", bearer(TOKEN.slice(0, -1))],
    ["the token and more", bearer(`${TOKEN}x`)],
    ["a token of 8 KB", bearer("x".repeat(8000))],
    ["two tokens", { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` }],
    ["the token as a password", { authorization: `Basic ${btoa(`operator:${TOKEN}`)}` }],
    ["the token in another header", { "x-api-key": TOKEN }],
    ["a session cookie", { cookie: `token=${TOKEN}` }],
  ])("asks for the token: %s", async (_name, headers) => {
    const answer = await ask(port, "/operator/v1/tasks", { headers: { ...headers } });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="palaver operator"');
  });

  it("does not accept the token in the query", async () => {
    expect((await ask(port, `/operator/v1/tasks?token=${TOKEN}`)).status).toBe(401);
  });

  it.each([
    "/agents/echo/operator/v1/tasks",
    "/agents/operator/v1/tasks",
    "//operator/v1/tasks",
    "/./operator/v1/tasks",
    "/x/../operator/v1/tasks",
    "/%6fperator/v1/tasks",
    "/OPERATOR/v1/tasks",
    "/operator/v2/tasks",
    "/operator/v1x/tasks",
    "/operator/tasks",
    "/operator/v1/tasks/",
    "/operator/v1/tasks/x/../../tasks",
    "/operator/v1",
    "/operator/v1/",
    "/tenant/operator/v1/tasks",
  ])("is not reachable at %s", async (path) => {
    const { status, body } = await ask(port, path, { headers: AUTHORIZED });
    expect(status).toBe(404);
    expect(body).not.toContain('"tasks":');
  });

  it.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("refuses %s where only GET is supported", async (method) => {
    const { status, headers } = await ask(port, "/operator/v1/tasks", { method, headers: AUTHORIZED });
    expect(status).toBe(405);
    expect(headers["allow"]).toBe("GET, HEAD");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("answers HEAD without a body, and OPTIONS without a token with 401", async () => {
    expect(await ask(port, "/operator/v1/tasks", { method: "HEAD", headers: AUTHORIZED })).toMatchObject({
      status: 200,
      body: "",
    });
    expect((await ask(port, "/operator/v1/tasks", { method: "OPTIONS" })).status).toBe(401);
  });

  it("changes something only for JSON: a form of a web page cannot send it", async () => {
    const path = "/operator/v1/dead-letters/redeliver";
    const body = JSON.stringify({ taskId: "t", configId: "c" });
    const send = (type: string) =>
      ask(port, path, { method: "POST", headers: { ...AUTHORIZED, "content-type": type }, body });
    expect((await send("text/plain")).status).toBe(415);
    expect((await send("application/x-www-form-urlencoded")).status).toBe(415);
    expect((await send("application/json")).status).toBe(404);
    const large = await ask(port, path, {
      method: "POST",
      headers: { ...AUTHORIZED, "content-type": "application/json" },
      body: `{"taskId":"${"x".repeat(100_000)}"}`,
    });
    expect(large.status).toBe(413);
  });

  it("names the wrong parameter", async () => {
    const message = async (path: string): Promise<string> =>
      JSON.parse((await ask(port, `/operator/v1/${path}`, { headers: AUTHORIZED })).body).error.message;
    expect(await message("tasks?state=asleep")).toMatch(/^state: must be one of submitted/);
    expect(await message("tasks?limit=201")).toBe("limit: must be a whole number from 1 to 200");
    expect(await message("tasks?limit=10&limit=20")).toBe("limit: must occur once");
    expect(await message("tasks?color=red")).toMatch(/^color: is not a parameter/);
    expect(await message("tasks?cursor=abc")).toMatch(/^cursor: /);
    expect(await message("tasks?since=yesterday")).toMatch(/^since: must be a time/);
    expect(await message("tasks/x/events?after=-1")).toMatch(/^after: /);
    expect(await message("tasks/%ff")).toMatch(/percent-encoded/);
    expect(await message("tasks/nothing")).toBe("Task not found");
  });

  it("has the same rules over HTTP/2", async () => {
    const path = { ":path": "/operator/v1/tasks" };
    expect((await askHttp2(port, { ...path, ...AUTHORIZED })).status).toBe(200);
    expect((await askHttp2(port, path)).status).toBe(401);
    expect((await askHttp2(port, { ...path, ...AUTHORIZED, "x-forwarded-for": "127.0.0.1" })).status).toBe(403);
    expect((await askHttp2(port, { ...path, ...AUTHORIZED, ":authority": "server" })).status).toBe(403);
    const grpc = await askHttp2(port, {
      ":path": "/operator/v1/tasks",
      ":method": "POST",
      "content-type": "application/grpc",
      ...AUTHORIZED,
    });
    expect(grpc.body).not.toContain("tasks");
  });

  it("is not served to a caller without a network address", async () => {
    const answer = await server.fetch(new Request("http://localhost/operator/v1/tasks", { headers: AUTHORIZED }));
    expect(answer.status).toBe(403);
  });

  it("records each request in the audit log, refused ones too, without the token", async () => {
    audited.length = 0;
    await ask(port, "/operator/v1/tasks?owner=ada", { headers: AUTHORIZED });
    await ask(port, "/operator/v1/nodes", { headers: bearer("plo_another-token-of-this-machine") });
    expect(audited).toMatchObject([
      { principal: "operator", operation: "operator", request: "GET /operator/v1/tasks", outcome: "ok" },
      { principal: "anonymous", operation: "operator", request: "GET /operator/v1/nodes", outcome: "unauthenticated" },
    ]);
    expect(JSON.stringify(audited)).not.toContain("plo_");
  });
});

describe("The operator API with security and a policy", () => {
  let port = 0;
  let server: Server;
  const keys: Readonly<Record<string, readonly string[]>> = {
    "key-of-an-operator": ["operate"],
    "key-of-a-caller": ["use"],
  };
  const verify = (key: string) => {
    const scopes = keys[key];
    return scopes === undefined ? undefined : { id: key, scopes };
  };
  beforeAll(async () => {
    ({ server, port } = await started({
      security: { schemes: { key: apiKeys({ verify }) } },
      operator: { token: TOKEN, policy: { scopes: ["operate"] } },
    }));
  });
  afterAll(() => server.close());
  const from = async (headers: Record<string, string>): Promise<number> =>
    (
      await ask(port, "/operator/v1/tasks", {
        headers: { "x-forwarded-for": "203.0.113.9", host: "agents.example", ...headers },
      })
    ).status;

  it("answers callers from elsewhere that satisfy the policy, and no others", async () => {
    expect(await from({ "x-api-key": "key-of-an-operator" })).toBe(200);
    expect(await from({ "x-api-key": "key-of-a-caller" })).toBe(403);
    expect(await from({ "x-api-key": "key-of-nobody" })).toBe(401);
    expect(await from({})).toBe(401);
    expect(await from(AUTHORIZED)).toBe(401);
    expect(await from({ "x-api-key": "key-of-an-operator", origin: "https://evil.example" })).toBe(403);
  });

  it("still answers programs on this machine that have the token", async () => {
    expect((await ask(port, "/operator/v1/tasks", { headers: AUTHORIZED })).status).toBe(200);
  });

  it("does not start with a policy that would let everybody in", () => {
    const start = (options: ServerOptions) => () =>
      createServer(echo, { store: "memory:", logger: SILENT, ...options });
    expect(start({ operator: { policy: { scopes: ["operate"] } } })).toThrow("operator.policy needs `security`");
    const security = { schemes: { key: apiKeys({ verify }) } };
    expect(start({ security, operator: { policy: {} } })).toThrow("at least one scope or claim");
    expect(start({ operator: { token: "short" } })).toThrow("operator.token must have");
    expect(start({ metrics: { token: "has spaces in it, 20" } })).toThrow("metrics.token");
  });
});

describe("Metrics", () => {
  it("are read by programs on this machine only", async () => {
    const { server, port } = await started({});
    try {
      expect((await ask(port, "/metrics")).body).toContain("palaver_streams 0");
      for (const [name, { headers = {}, status = [403] }] of Object.entries(ATTACKS)) {
        const answer = await ask(port, "/metrics", { headers });
        expect(status, name).toContain(answer.status);
        expect(answer.body, name).not.toContain("palaver_streams");
      }
      for (const path of [
        "/agents/echo/metrics",
        "//metrics",
        "/tenant/metrics",
        "/metrics/x",
        "/METRICS",
        "/metricsx",
      ])
        expect((await ask(port, path)).status, path).toBe(404);
      for (const method of ["POST", "OPTIONS", "DELETE"])
        expect((await ask(port, "/metrics", { method })).status).toBe(405);
      expect((await askHttp2(port, { ":path": "/metrics", ":authority": "server" })).status).toBe(403);
      expect((await server.fetch(new Request("http://localhost/metrics"))).status).toBe(403);
    } finally {
      await server.close();
    }
  });

  it("need the token from everywhere, if one is set", async () => {
    const { server, port } = await started({ metrics: { token: "a-token-for-the-scraper" } });
    try {
      expect((await ask(port, "/metrics")).status).toBe(401);
      expect((await ask(port, "/metrics", { headers: bearer("a-token-for-the-scrapeR") })).status).toBe(401);
      const headers = { ...bearer("a-token-for-the-scraper"), "x-forwarded-for": "203.0.113.9", host: "10.0.0.1" };
      expect((await ask(port, "/metrics", { headers })).status).toBe(200);
      expect((await ask(port, "/operator/v1/tasks", { headers: bearer("a-token-for-the-scraper") })).status).toBe(401);
    } finally {
      await server.close();
    }
  });

  it("and the operator API do not exist if they are turned off", async () => {
    const { server, port } = await started({ metrics: false, operator: false });
    try {
      expect((await ask(port, "/metrics")).status).toBe(404);
      expect((await ask(port, "/operator/v1/tasks")).status).toBe(404);
    } finally {
      await server.close();
    }
  });
});
