import { describe, expect, it } from "vitest";
import { type ApiKeysOptions, apiKeys, createApiKey, type StoredApiKey } from "./api-keys.ts";
import { showing } from "./test/shown.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");
const of = { name: "ci", owner: "team", scopes: ["read"], createdAt: "2029-01-01T00:00:00Z" };

async function keep(change: Partial<StoredApiKey> = {}, place: Partial<ApiKeysOptions> = {}) {
  const { key, stored } = await createApiKey(of);
  const kept = { ...stored, ...change };
  const find = (id: string) => (id === kept.id ? kept : undefined);
  return { key, stored, verifier: apiKeys({ find, now: () => NOW, ...place }) };
}

describe("An API key", () => {
  it("identifies its owner", async () => {
    const { key, stored, verifier } = await keep({ tenant: "acme" });
    expect(await verifier.verify(showing({ headers: { "x-api-key": key } }))).toEqual({
      id: "team",
      scopes: ["read"],
      credential: stored.id,
      tenant: "acme",
      claims: { key: stored.id, name: "ci" },
    });
  });

  it("is stored without its secret", async () => {
    const { key, stored } = await keep();
    const [, , secret = ""] = /^(plv_[0-9a-f]{16}_)(.{43})$/.exec(key) ?? [];
    expect(secret).toHaveLength(43);
    expect(JSON.stringify(stored)).not.toContain(secret);
  });

  it.each<[string, Partial<StoredApiKey>]>([
    ["was revoked", { revokedAt: "2029-12-31T00:00:00Z" }],
    ["has expired", { expiresAt: "2030-01-01T00:00:00Z" }],
    ["has an invalid expiry time", { expiresAt: "soon" }],
    ["has another secret", { hash: "AAAA" }],
    ["has an invalid hash", { hash: "%%%" }],
    ["is unknown", { id: "0000000000000000" }],
  ])("that %s is invalid", async (_, change) => {
    const { key, verifier } = await keep(change);
    await expect(verifier.verify(showing({ headers: { "x-api-key": key } }))).rejects.toMatchObject({
      code: "unauthenticated",
      message: "Invalid credentials",
    });
  });

  it("is valid until it expires", async () => {
    const { key, verifier } = await keep({ expiresAt: "2030-01-01T00:00:01Z" });
    expect(await verifier.verify(showing({ headers: { "x-api-key": key } }))).toMatchObject({ id: "team" });
  });

  it.each(["", "hello", "plv_", "plv_0123456789abcdef_", `plv_0123456789abcdef_${"a".repeat(44)}`, "x".repeat(20_000)])(
    "is invalid if it is %j",
    async (key) => {
      const { verifier } = await keep();
      await expect(verifier.verify(showing({ headers: { "x-api-key": key } }))).rejects.toMatchObject({
        code: "unauthenticated",
      });
    },
  );

  it("is invalid if it is sent twice, in a header, a query parameter or a cookie", async () => {
    const { key, verifier } = await keep();
    const headers = new Headers([
      ["x-api-key", key],
      ["x-api-key", key],
    ]);
    await expect(verifier.verify(showing({ headers }))).rejects.toMatchObject({ code: "unauthenticated" });
    const query = await keep({}, { in: "query", name: "key" });
    const url = `/?key=${query.key}&key=${query.key}`;
    await expect(query.verifier.verify(showing({ url }))).rejects.toMatchObject({ code: "unauthenticated" });
    const cookie = await keep({}, { in: "cookie", name: "key" });
    const jar = { cookie: `key=${cookie.key}; key=${cookie.key}` };
    await expect(cookie.verifier.verify(showing({ headers: jar }))).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("may be sent in the query or in a cookie if the scheme says so", async () => {
    const query = await keep({}, { in: "query", name: "key" });
    expect(await query.verifier.verify(showing({ url: `/tasks?a=1&key=${query.key}` }))).toMatchObject({ id: "team" });
    expect(query.verifier.scheme).toEqual({ type: "apiKey", in: "query", name: "key" });
    const cookie = await keep({}, { in: "cookie", name: "key" });
    const headers = { cookie: `other=1; key=${cookie.key}` };
    expect(await cookie.verifier.verify(showing({ headers }))).toMatchObject({ id: "team" });
    expect(await cookie.verifier.verify(showing({ headers: { "x-api-key": cookie.key } }))).toBeUndefined();
  });

  it("may be checked by a function of the host", async () => {
    const verifier = apiKeys({ verify: (key) => (key === "abc" ? { id: "ada", scopes: [] } : undefined) });
    expect(await verifier.verify(showing({ headers: { "x-api-key": "abc" } }))).toEqual({ id: "ada", scopes: [] });
    await expect(verifier.verify(showing({ headers: { "x-api-key": "abd" } }))).rejects.toMatchObject({
      code: "unauthenticated",
    });
    expect(verifier.challenge()).toBe('ApiKey in="header", name="X-API-Key"');
  });
});
