import { request } from "node:https";
import { apiKeys, basic, hashPassword } from "palaver/auth";
import { expect, it } from "vitest";
import { createAuthority } from "../../../src/platform/test/certificate-authority.ts";
import { at, get, post } from "../exchange.ts";
import { createIssuer } from "../issuer.ts";
import { idsOf, userMessage } from "../kinds.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const send = (more: object = {}) => rpcRequest(1, "message/send", { message: userMessage("Hello", more) });

it(
  seed.example(
    "4.3. Client/User Identity › credentials",
    "a Bearer token, Basic or an API key authenticates the caller, for each scheme of the card",
  ),
  async () => {
    const issuer = await createIssuer();
    const schemes = {
      bearer: issuer.verifier,
      basic: basic({ users: { alice: { password: await hashPassword("open sesame") } } }),
      key: apiKeys({ verify: (key) => (key === "secret" ? { id: "alice", scopes: [] } : undefined) }),
    };
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(
        async (task) => task.caller.id,
        {},
        { ...options, security: { schemes } },
      );
      const { json } = await get(`${testServer.url}/.well-known/agent.json`);
      expect(json).toMatchObject({
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer" },
          basic: { type: "http", scheme: "basic" },
          key: { type: "apiKey", in: "header", name: "X-API-Key" },
        },
        security: [{ bearer: [] }, { basic: [] }, { key: [] }],
        authentication: { schemes: ["Bearer", "Basic", "ApiKey"] },
      });
      for (const [scheme, headers] of [
        ["bearer", await issuer.bearer("alice")],
        ["basic", { authorization: `Basic ${Buffer.from("alice:open sesame").toString("base64")}` }],
        ["key", { "x-api-key": "secret" }],
      ] as const) {
        const task = resultOf(await post(testServer.url, send(), headers), 1);
        expect(at(task, "artifacts.0.parts.0.text")).toBe(`${scheme}:alice`);
      }
    }
  },
);

it(
  seed.example(
    "4.4. Server Responsibilities for Authentication",
    "every request is authenticated: 401 with a challenge for missing or invalid credentials, 403 for insufficient ones",
  ),
  async () => {
    const issuer = await createIssuer();
    const stranger = await createIssuer();
    const security = { schemes: { bearer: issuer.verifier }, policies: [{ scopes: ["talk"] }] };
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async () => "done", {}, { ...options, security });
      const requests = [
        send(),
        rpcRequest(1, "message/stream", { message: userMessage("Hello") }),
        ...["tasks/get", "tasks/cancel", "tasks/resubscribe", "tasks/pushNotificationConfig/list"].map((method) =>
          rpcRequest(1, method, { id: "x" }),
        ),
      ];
      for (const body of requests) {
        for (const [status, challenge, headers] of [
          [401, 'Bearer realm="palaver"', {}],
          [401, 'Bearer realm="palaver", error="invalid_token"', await stranger.bearer("alice", "talk")],
          [403, 'Bearer realm="palaver", error="insufficient_scope", scope="talk"', await issuer.bearer("alice")],
        ] as const) {
          const answer = await post(testServer.url, body, headers);
          expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([status, challenge]);
          expect(answer.json).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: expect.any(Number) } });
        }
      }
      const known = await post(testServer.url, send(), await issuer.bearer("alice", "talk"));
      expect(at(resultOf(known, 1), "status.state")).toBe("completed");
    }
  },
);

it(
  seed.example("4.6. Authorization", "depends on skill, operation, owner of the data, and scopes of the token"),
  async () => {
    const issuer = await createIssuer();
    const skill = (id: string) => ({ id, name: id, description: "One of two.", tags: ["x"], run: async () => id });
    const security = {
      schemes: { bearer: issuer.verifier },
      policies: [
        { skill: "write", scopes: ["notes:write"] },
        { operation: "cancel" as const, scopes: ["notes:admin"] },
      ],
    };
    for (const options of EITHER_WAY) {
      const skills = [skill("read"), skill("write")];
      await using testServer = await serveScript(async () => "done", { skills }, { ...options, security });
      const use = async (skillId: string, scope: string) =>
        post(testServer.url, send({ metadata: { skillId } }), await issuer.bearer("alice", scope));
      const read = resultOf(await use("read", ""), 1);
      expect(at(read, "artifacts.0.parts.0.text")).toBe("read");
      expect((await use("write", "")).status).toBe(403);
      expect(at(resultOf(await use("write", "notes:write"), 1), "artifacts.0.parts.0.text")).toBe("write");
      const { taskId: id } = idsOf(read);
      const cancel = await post(testServer.url, rpcRequest(1, "tasks/cancel", { id }), await issuer.bearer("alice"));
      expect(cancel.status).toBe(403);
      const other = await post(testServer.url, rpcRequest(1, "tasks/get", { id }), await issuer.bearer("bob"));
      expect(at(other.json, "error.code")).toBe(-32001);
    }
  },
);

it(
  seed.example(
    "10.2. Security Considerations Summary › transport security",
    "with a certificate the server uses TLS only",
  ),
  async () => {
    const authority = createAuthority("Authority");
    const tls = authority.issue({ commonName: "localhost" });
    await using testServer = await serveScript(async () => "done", {}, { tls });
    expect(testServer.url).toMatch(/^https:/);
    const url = `${testServer.url}/.well-known/agent.json`;
    const status = await new Promise((resolve, reject) => {
      request(url, { ca: authority.cert }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(200);
    await expect(fetch(url.replace("https:", "http:"))).rejects.toThrow();
  },
);

it(
  seed.example(
    "10.2. Security Considerations Summary › resource management",
    "each caller has its own rate limit, and the error says when to retry",
  ),
  async () => {
    const issuer = await createIssuer();
    const security = { schemes: { bearer: issuer.verifier } };
    const rateLimit = { principal: { requests: 2, seconds: 3600 } };
    await using testServer = await serveScript(async () => "done", {}, { security, rateLimit });
    const [alice, bob] = [await issuer.bearer("alice"), await issuer.bearer("bob")];
    for (const _ of [1, 2]) expect((await post(testServer.url, send(), alice)).status).toBe(200);
    const { status, headers } = await post(testServer.url, send(), alice);
    expect([status, Number(headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect((await post(testServer.url, send(), bob)).status).toBe(200);
  },
);
