import { expect, it } from "vitest";
import { at, get, post } from "../exchange.ts";
import { createIssuer } from "../issuer.ts";
import { userMessage } from "../kinds.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

const send = (more: object = {}) => rpcRequest(1, "message/send", { message: userMessage("Hello", more) });

it(
  seed.example(
    "Authentication › bearer token",
    "a JWT authenticates the caller; requests without a JWT or with an untrusted one are refused",
  ),
  async () => {
    const [issuer, stranger] = [await createIssuer(), await createIssuer()];
    const security = { schemes: { bearer: issuer.verifier } };
    await using testServer = await serveScript(async (task) => task.caller.id, {}, { security });
    const address = `${testServer.url}/api/a2a`;
    const task = resultOf(await post(address, send(), await issuer.bearer("alice")), 1);
    expect(at(task, "artifacts.0.parts.0.text")).toBe("bearer:alice");
    for (const headers of [{}, { authorization: "Bearer no.jwt.atall" }, await stranger.bearer("alice")]) {
      const refused = await post(address, send(), headers);
      expect([refused.status, at(refused.json, "id"), at(refused.json, "error.data.reason")]).toEqual([
        401,
        1,
        "UNAUTHENTICATED",
      ]);
      expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer /);
    }
  },
);

it(seed.example("Authentication › agent card", "the card declares the scheme as in the example"), async () => {
  const issuer = await createIssuer();
  await using testServer = await serveScript(
    async () => "done",
    {},
    { security: { schemes: { bearer: issuer.verifier } } },
  );
  const card = await get(`${testServer.url}/.well-known/agent-card.json`, { "a2a-version": "0.3" });
  expect(at(card.json, "securitySchemes")).toEqual({
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  });
  expect(at(card.json, "security")).toEqual([{ bearer: [] }]);
});

it(
  seed.example("Authorization", "a skill the caller may not use gets 403, in an envelope without secrets"),
  async () => {
    const issuer = await createIssuer();
    const skill = (id: string) => ({ id, name: id, description: "One of two.", tags: ["x"], run: async () => id });
    const security = {
      schemes: { bearer: issuer.verifier },
      policies: [{ skill: "admin-tools", scopes: ["admin"] }],
    };
    const skills = [skill("tools"), skill("admin-tools")];
    await using testServer = await serveScript(async () => "done", { skills }, { security });
    const use = async (skillId: string, scope: string) =>
      post(testServer.url, send({ metadata: { skillId } }), await issuer.bearer("alice", scope));
    const forbidden = await use("admin-tools", "user");
    expect(forbidden.status).toBe(403);
    expect(forbidden.json).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32056, data: { reason: "PERMISSION_DENIED" } },
    });
    expect(forbidden.headers.get("www-authenticate")).toContain('scope="admin"');
    for (const [skillId, scope] of [
      ["tools", "user"],
      ["admin-tools", "user admin"],
    ] as const) {
      expect(at(resultOf(await use(skillId, scope), 1), "artifacts.0.parts.0.text")).toBe(skillId);
    }
  },
);

it(
  seed.example(
    "Rate Limiting",
    "each response contains the remaining requests and the reset time; beyond the limit the status is 429",
  ),
  async () => {
    const rateLimit = { principal: { requests: 3, seconds: 60 } };
    await using testServer = await serveScript(async () => "done", {}, { rateLimit });
    const began = Math.floor(Date.now() / 1000);
    for (const remaining of ["2", "1", "0"]) {
      const { status, headers } = await post(testServer.url, send());
      expect([status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual([
        200,
        "3",
        remaining,
      ]);
      const reset = Number(headers.get("x-ratelimit-reset"));
      expect(reset).toBeGreaterThanOrEqual(began);
      expect(reset).toBeLessThanOrEqual(began + 120);
    }
    const refused = await post(testServer.url, send());
    expect([refused.status, refused.headers.get("x-ratelimit-remaining")]).toEqual([429, "0"]);
    expect(refused.json).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: -32054 } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  },
);
