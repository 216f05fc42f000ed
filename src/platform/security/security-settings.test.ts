import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { apiKeys } from "../../auth/verify/api-keys.ts";
import { AUDIENCE, createIssuer, ISSUER, NOW } from "../../auth/verify/test/issuer.ts";
import { type Agent, agent } from "../../engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import { createServer, type Server } from "../create-server.ts";
import type { ServerOptions } from "../settings/settings.ts";
import { jwtBearer, openIdConnect } from "./security-issuers.ts";

/** Keys that contain the caller: `ada`, `ada:read,write`, `ada@acme`. */
const key = apiKeys({
  verify(value) {
    const [, id, tenant, scopes = ""] = /^(\w+)(?:@(\w+))?(?::([\w.]+))?$/.exec(value) ?? [];
    if (id === undefined) return undefined;
    return { id, scopes: scopes.split("."), ...(tenant !== undefined && { tenant }) };
  },
});
const skill = { name: "A skill", description: "Does it.", tags: ["skill"] };
const clerk = agent({
  name: "Clerk",
  description: "A test agent.",
  version: "1.0.0",
  skills: [
    { ...skill, id: "look" },
    { ...skill, id: "pay", security: [{ key: ["pay"] }] },
  ],
  run: async ({ caller, tenant, skillId }) => `${caller.id} ${tenant} ${skillId}`,
});

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function create(options: ServerOptions, agents: Agent = clerk): Server {
  const server = createServer(agents, { store: "memory:", drainTimeout: 0, logger: SILENT_LOGGER, ...options });
  servers.push(server);
  return server;
}

async function ask(server: Server, line: string, { as, body }: { readonly as?: string; readonly body?: object } = {}) {
  const [method = "", path = ""] = line.split(" ");
  const response = await server.fetch(
    new Request(`http://agents.example${path}`, {
      method,
      headers: { "content-type": "application/json", ...(as !== undefined && { "x-api-key": as }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}

const send = (skillId: string, members: object = {}) => ({
  message: {
    messageId: crypto.randomUUID(),
    role: "ROLE_USER",
    parts: [{ text: "x" }],
    metadata: { skillId },
    ...members,
  },
});
const answerOf = ({ json }: Awaited<ReturnType<typeof ask>>): unknown => json.task?.artifacts?.[0]?.parts?.[0]?.text;

describe("A server with security", () => {
  it("shows tasks only to their owners; to others they do not exist", async () => {
    const server = create({ security: { schemes: { key } } });
    const made = await ask(server, "POST /message:send", { as: "ada", body: send("look") });
    expect(answerOf(made)).toBe("key:ada  look");
    const { id } = made.json.task;
    for (const line of [`GET /tasks/${id}`, `POST /tasks/${id}:cancel`, `GET /tasks/${id}:subscribe`]) {
      const others = await ask(server, line, { as: "bob" });
      const unknown = await ask(server, line.replace(id, "00000000-0000-7000-8000-000000000000"), { as: "bob" });
      expect(others.status).toBe(404);
      expect(others.text.replaceAll(id, "ID")).toBe(
        unknown.text.replaceAll("00000000-0000-7000-8000-000000000000", "ID"),
      );
    }
    expect((await ask(server, "GET /tasks", { as: "bob" })).json.totalSize).toBe(0);
    expect((await ask(server, "GET /tasks", { as: "ada" })).json.totalSize).toBe(1);
  });

  it("checks the scopes of a skill before a task is stored", async () => {
    const policies = [{ skill: "look", operation: "stream", scopes: ["stream"] }] as const;
    const server = create({ security: { schemes: { key }, policies } });
    expect((await ask(server, "POST /message:send", { as: "ada", body: send("pay") })).status).toBe(403);
    expect((await ask(server, "POST /message:stream", { as: "ada", body: send("look") })).status).toBe(403);
    expect((await ask(server, "GET /tasks", { as: "ada" })).json.totalSize).toBe(0);
    const paid = await ask(server, "POST /message:send", { as: "ada:pay", body: send("pay") });
    expect(answerOf(paid)).toBe("key:ada  pay");
  });

  it("puts callers with a tenant into that tenant, whether the path names it or not", async () => {
    const server = create({ security: { schemes: { key } } });
    const made = await ask(server, "POST /message:send", { as: "ada@acme", body: send("look") });
    expect(answerOf(made)).toBe("key:ada acme look");
    const { id } = made.json.task;
    expect((await ask(server, `GET /acme/tasks/${id}`, { as: "ada@acme" })).status).toBe(200);
    expect((await ask(server, `GET /tasks/${id}`, { as: "ada@acme" })).status).toBe(200);
    expect((await ask(server, `GET /globex/tasks/${id}`, { as: "ada@acme" })).status).toBe(404);
    expect((await ask(server, `GET /tasks/${id}`, { as: "ada@globex" })).status).toBe(404);
  });

  it("serves the extended card only to authenticated callers", async () => {
    const secret = { ...clerk, extendedCard: { description: "Does more." } };
    const server = create({ security: { schemes: { key }, require: [{ key: [] }, {}] } }, secret);
    expect((await ask(server, "GET /extendedAgentCard")).status).toBe(401);
    expect((await ask(server, "GET /extendedAgentCard", { as: "ada" })).json).toMatchObject({
      description: "Does more.",
      securitySchemes: { key: { apiKeySecurityScheme: { name: "X-API-Key" } } },
    });
  });

  it.each<[string, ServerOptions, RegExp]>([
    [
      "security and authenticate together",
      { authenticate: () => undefined, security: { schemes: { key } } },
      /exclude each other/,
    ],
    ["no scheme", { security: { schemes: {} } }, /security\.schemes: must not be empty/],
    ["an invalid scheme name", { security: { schemes: { "a:b": key } } }, /"a:b" must be/],
    ["a requirement of an unknown scheme", { security: { schemes: { key }, require: [{ kye: [] }] } }, /kye/],
    [
      "requirements that no caller can meet",
      { security: { schemes: { key }, require: [] } },
      /would refuse every caller/,
    ],
    [
      "a policy for an unknown skill",
      { security: { schemes: { key }, policies: [{ skill: ["pay", "pya"], scopes: ["pay"] }] } },
      /policies\[0\]\.skill: there is no skill "pya"\. Skills: look, pay/,
    ],
    [
      "a policy for an unknown agent",
      { security: { schemes: { key }, policies: [{ agent: "clark", scopes: ["pay"] }] } },
      /policies\[0\]\.agent: there is no agent "clark"\. Agents: clerk/,
    ],
    [
      "a policy without requirements",
      { security: { schemes: { key }, policies: [{ operation: "get" }] } },
      /policies\[0\]\.scopes, claims/,
    ],
    [
      "an agent that requires an unknown scheme",
      { security: { schemes: { other: key } } },
      /skills\[1\]\.security, but the scheme key does not exist; known schemes: other/,
    ],
  ])("does not start with %s", (_, options, message) => {
    expect(() => create(options)).toThrow(message);
  });

  it("accepts schemes of an agent only if they equal the server's", () => {
    const definition = { name: "A", description: "A.", version: "1", run: async () => {} };
    const same = agent({
      ...definition,
      securitySchemes: { key: { type: "apiKey", in: "header", name: "X-API-Key" } },
    });
    const other = agent({ ...definition, securitySchemes: { key: { type: "apiKey", in: "query", name: "key" } } });
    const more = agent({ ...definition, securitySchemes: { token: { type: "http", scheme: "bearer" } } });
    expect(() => create({ security: { schemes: { key } } }, same)).not.toThrow();
    expect(() => create({ security: { schemes: { key } } }, other)).toThrow(/a different scheme of the same name/);
    expect(() => create({ security: { schemes: { key } } }, more)).toThrow(
      /does not verify this scheme; it verifies key/,
    );
  });
});

describe("The keys of an issuer", () => {
  async function listen(
    answer: (path: string) => object,
  ): Promise<{ readonly base: string; readonly asked: string[] }> {
    const asked: string[] = [];
    const http = createHttpServer((request, response) => {
      asked.push(request.url ?? "");
      if (request.url === "/elsewhere") response.writeHead(302, { location: "/keys" }).end();
      else response.end(JSON.stringify(answer(request.url ?? "")));
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    });
    return { base: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, asked };
  }
  const bearing = (token: string) => ({
    method: "GET",
    url: "/",
    headers: new Headers({ authorization: `Bearer ${token}` }),
  });
  const rules = { audience: AUDIENCE, now: () => NOW };

  it("are fetched from the configured URL, even a private one, without following redirects", async () => {
    const issuer = await createIssuer();
    const { base, asked } = await listen(() => ({ keys: [issuer.publicKey] }));
    const request = bearing(await issuer.token());
    const there = jwtBearer({ ...rules, issuer: ISSUER, jwksUrl: `${base}/keys` });
    expect(await there.verify(request)).toMatchObject({ id: "ada" });
    const elsewhere = jwtBearer({ ...rules, issuer: ISSUER, jwksUrl: `${base}/elsewhere` });
    await expect(elsewhere.verify(request)).rejects.toMatchObject({ code: "unavailable" });
    expect(asked).toEqual(["/keys", "/elsewhere"]);
  });

  it("are not fetched from a private address in the issuer's metadata", async () => {
    const issuer = await createIssuer();
    const inside = await listen(() => ({ keys: [issuer.publicKey] }));
    const provider = await listen(() => ({ issuer: provider.base, jwks_uri: `${inside.base}/keys` }));
    const verifier = openIdConnect({ ...rules, url: provider.base });
    await expect(verifier.verify(bearing(await issuer.token({ iss: provider.base })))).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(provider.asked).toEqual(["/.well-known/openid-configuration"]);
    expect(inside.asked).toEqual([]);
  });
});
