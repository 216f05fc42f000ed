import { base64url, exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { jwtBearer } from "./jwt-bearer.ts";
import { AUDIENCE, createIssuer, createWeb, ISSUER, type Issuer, NOW } from "./test/issuer.ts";
import { bearing, showing } from "./test/shown.ts";

const JWKS = `${ISSUER}/keys`;
const seconds = NOW / 1000;
const rules = { issuer: ISSUER, audience: AUDIENCE, now: () => NOW };

let issuer: Issuer;
beforeAll(async () => {
  issuer = await createIssuer();
});

function verifier(options: Partial<Parameters<typeof jwtBearer>[0]> = {}) {
  return jwtBearer({ ...rules, jwks: { keys: [issuer.publicKey] }, ...options });
}

describe("A bearer token", () => {
  it("identifies its caller, its scopes and its tenant", async () => {
    const token = await issuer.token({ scope: "read write read", org: "acme", role: "auditor" });
    expect(await verifier({ tenantClaim: "org" }).verify(bearing(token))).toMatchObject({
      id: "ada",
      scopes: ["read", "write"],
      tenant: "acme",
      claims: { role: "auditor" },
    });
  });

  it("may contain scopes as a list in another claim", async () => {
    const token = await issuer.token({ scp: ["a", "b"], permissions: "c d", email: "ada@example.org" });
    expect((await verifier().verify(bearing(token)))?.scopes).toEqual(["a", "b"]);
    const other = verifier({ scopesClaim: "permissions", subjectClaim: "email" });
    expect(await other.verify(bearing(token))).toMatchObject({ id: "ada@example.org", scopes: ["c", "d"] });
  });

  it("is not found in requests with other schemes", async () => {
    expect(await verifier().verify(showing({}))).toBeUndefined();
    expect(await verifier().verify(showing({ headers: { authorization: "Basic YTpi" } }))).toBeUndefined();
  });

  it("is accepted within the clock skew", async () => {
    const late = await issuer.token({ exp: seconds - 59, nbf: seconds + 59 });
    expect(await verifier().verify(bearing(late))).toMatchObject({ id: "ada" });
    await expect(verifier({ clockSkew: 0 }).verify(bearing(late))).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

describe("An invalid bearer token:", () => {
  const unsigned = (header: object, claims: object = {}): string => {
    const part = (value: object) => base64url.encode(JSON.stringify(value));
    const body = { iss: ISSUER, aud: AUDIENCE, sub: "ada", exp: seconds + 300, ...claims };
    return `${part(header)}.${part(body)}.`;
  };
  const cases: Record<string, () => string | Promise<string>> = {
    "not signed": () => unsigned({ alg: "none" }),
    "not signed, with alg none in mixed case": () => unsigned({ alg: "nOnE" }),
    "signed with the public key as a shared secret": async () => {
      const key = await importJWK(issuer.publicKey, "ES256");
      const secret = new TextEncoder().encode(await exportSPKI(key as never));
      return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "ada", exp: seconds + 300 })
        .setProtectedHeader({ alg: "HS256", kid: "one" })
        .sign(secret);
    },
    "with its own key in the header": async () => {
      const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
      return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "ada", exp: seconds + 300 })
        .setProtectedHeader({ alg: "ES256", kid: "one", jwk: await exportJWK(publicKey) })
        .sign(privateKey);
    },
    "with an unknown key id": () => issuer.token({}, { kid: "two" }),
    expired: () => issuer.token({ exp: seconds - 61 }),
    "without expiry": () => issuer.token({ exp: undefined }),
    "not valid yet": () => issuer.token({ nbf: seconds + 61 }),
    "for another audience": () => issuer.token({ aud: "other" }),
    "without audience": () => issuer.token({ aud: undefined }),
    "of another issuer": () => issuer.token({ iss: `${ISSUER}/` }),
    "without issuer": () => issuer.token({ iss: undefined }),
    "without subject": () => issuer.token({ sub: undefined }),
    "with an empty subject": () => issuer.token({ sub: "" }),
    "with a changed signature": async () => (await issuer.token()).replace(/.{4}$/, "AAAA"),
    "with changed claims": async () => {
      const [head = "", , signature = ""] = (await issuer.token()).split(".");
      return `${head}.${base64url.encode(JSON.stringify({ sub: "root" }))}.${signature}`;
    },
    "with an unknown critical header": async () =>
      new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "ada", exp: seconds + 300 })
        .setProtectedHeader({ alg: "ES256", kid: "one", crit: ["x"], x: 1 })
        .sign(issuer.privateKey, { crit: { x: true } }),
    "too large": () => issuer.token({ blob: "x".repeat(20_000) }),
    "not a token": () => "hello",
    empty: () => "",
  };
  it.each(Object.entries(cases))("%s", async (_, token) => {
    await expect(verifier().verify(bearing(await token()))).rejects.toMatchObject({
      code: "unauthenticated",
      message: "Invalid credentials",
    });
  });

  it("sent twice", async () => {
    const headers = new Headers([
      ["authorization", `Bearer ${await issuer.token()}`],
      ["authorization", `Bearer ${await issuer.token({ sub: "bob" })}`],
    ]);
    await expect(verifier().verify(showing({ headers }))).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("without the required tenant claim", async () => {
    const token = await issuer.token();
    await expect(verifier({ tenantClaim: "org" }).verify(bearing(token))).rejects.toMatchObject({
      code: "unauthenticated",
    });
  });

  it("signed with an algorithm that is not accepted", async () => {
    const token = await issuer.token();
    await expect(verifier({ algorithms: ["RS256"] }).verify(bearing(token))).rejects.toMatchObject({
      code: "unauthenticated",
    });
  });
});

/** Published keys that cannot verify any token. */
describe("A bearer token whose key cannot be used gets 401, not 503:", () => {
  const { subtle } = globalThis.crypto;

  it.each(["RS256", "PS256"])("an RSA key of 1024 bits for %s", async (alg) => {
    const name = alg === "RS256" ? "RSASSA-PKCS1-v1_5" : "RSA-PSS";
    const parameters = { name, modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
    const { publicKey, privateKey } = await subtle.generateKey(parameters, true, ["sign", "verify"]);
    const part = (value: object): string => base64url.encode(JSON.stringify(value));
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: "ada", exp: seconds + 300 };
    const signed = `${part({ alg, kid: "weak" })}.${part(claims)}`;
    const signature = await subtle.sign({ name, saltLength: 32 }, privateKey, new TextEncoder().encode(signed));
    const token = `${signed}.${base64url.encode(new Uint8Array(signature))}`;
    const keys = [{ ...(await exportJWK(publicKey)), kid: "weak", alg }];
    const web = createWeb({ [JWKS]: { keys } });
    for (const bearer of [verifier({ jwks: { keys } }), jwtBearer({ ...rules, jwksUrl: JWKS, fetch: web.fetch })]) {
      await expect(bearer.verify(bearing(token))).rejects.toMatchObject({ code: "unauthenticated" });
    }
  });

  it.each<[string, object]>([
    ["a point that is not on its curve", { x: base64url.encode(new Uint8Array(32)) }],
    ["coordinates that are not base64", { x: "*" }],
    ["no coordinates", { x: undefined }],
    ["an unknown curve", { crv: "P-1" }],
    ["a key for encryption", { key_ops: ["encrypt"] }],
  ])("%s", async (_name, change) => {
    const bearer = verifier({ jwks: { keys: [{ ...issuer.publicKey, ...change }] } });
    await expect(bearer.verify(bearing(await issuer.token()))).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

describe("Unsafe rules for tokens", () => {
  it.each<[string, object]>([
    ["an algorithm with a shared secret", { algorithms: ["HS256"] }],
    ["no algorithm", { algorithms: ["none"] }],
    ["an empty list of algorithms", { algorithms: [] }],
    ["an empty issuer", { issuer: "" }],
    ["an undefined issuer", { issuer: undefined }],
    ["no audience", { audience: [] }],
    ["an empty audience", { audience: "" }],
    ["a clock skew of 2 hours", { clockSkew: 7200 }],
    ["a shared secret", { jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } }],
    ["a private key", { jwks: { keys: [{ kty: "EC", crv: "P-256", x: "a", y: "b", d: "c" }] } }],
  ])("are refused: %s", (_, options) => {
    expect(() => verifier(options)).toThrow(TypeError);
  });
});

describe("The keys of an issuer", () => {
  const remote = (web: ReturnType<typeof createWeb>, time: { now: number }) =>
    jwtBearer({ ...rules, jwksUrl: JWKS, fetch: web.fetch, monotonic: () => time.now });

  it("are fetched once for all waiting callers", async () => {
    const web = createWeb({ [JWKS]: { keys: [issuer.publicKey] } });
    const bearer = remote(web, { now: 0 });
    const token = await issuer.token();
    await Promise.all(Array.from({ length: 20 }, () => bearer.verify(bearing(token))));
    expect(web.asked).toEqual([JWKS]);
  });

  it("are fetched again for an unknown key id, at most every 30 seconds", async () => {
    const web = createWeb({ [JWKS]: { keys: [issuer.publicKey] } });
    const time = { now: 0 };
    const bearer = remote(web, time);
    const next = await createIssuer("two");
    const token = await next.token();
    await bearer.verify(bearing(await issuer.token()));
    web.pages.set(JWKS, { keys: [issuer.publicKey, next.publicKey] });
    for (let tries = 0; tries < 50; tries += 1) {
      await expect(bearer.verify(bearing(token))).rejects.toMatchObject({ code: "unauthenticated" });
    }
    expect(web.asked).toHaveLength(1);
    time.now = 30_000;
    expect(await bearer.verify(bearing(token))).toMatchObject({ id: "ada" });
    expect(web.asked).toHaveLength(2);
  });

  it("are not fetched for every made-up key id", async () => {
    const web = createWeb({ [JWKS]: { keys: [issuer.publicKey] } });
    const time = { now: 0 };
    const bearer = remote(web, time);
    for (let second = 0; second < 60; second += 1) {
      time.now = second * 1000;
      const token = await issuer.token({}, { kid: `made-up-${second}` });
      await expect(bearer.verify(bearing(token))).rejects.toMatchObject({ code: "unauthenticated" });
    }
    expect(web.asked).toHaveLength(2);
  });

  it("are used for an hour while they cannot be fetched, and not longer", async () => {
    const web = createWeb({ [JWKS]: { keys: [issuer.publicKey] } });
    const time = { now: 0 };
    const bearer = remote(web, time);
    const token = await issuer.token();
    await bearer.verify(bearing(token));
    web.pages.set(JWKS, new TypeError("fetch failed"));
    time.now = 3_599_000;
    expect(await bearer.verify(bearing(token))).toMatchObject({ id: "ada" });
    time.now = 3_600_000;
    await expect(bearer.verify(bearing(token))).rejects.toMatchObject({ code: "unavailable" });
  });

  it.each<[string, unknown]>([
    ["answers with an error", undefined],
    ["cannot be reached", new TypeError("fetch failed")],
    ["does not send JSON", "<html>"],
    ["sends no keys", {}],
    ["sends keys that are not objects", { keys: [1] }],
    ["sends too many bytes", `{"keys":[],"x":"${"x".repeat(300_000)}"}`],
  ])("are not fetched again at once if the issuer %s", async (_, page) => {
    const web = createWeb({ [JWKS]: page });
    if (page === undefined) web.pages.delete(JWKS);
    const time = { now: 0 };
    const bearer = remote(web, time);
    const token = await issuer.token();
    for (let tries = 0; tries < 5; tries += 1) {
      await expect(bearer.verify(bearing(token))).rejects.toMatchObject({ code: "unavailable" });
    }
    expect(web.asked).toHaveLength(1);
    web.pages.set(JWKS, { keys: [issuer.publicKey] });
    time.now = 5000;
    expect(await bearer.verify(bearing(token))).toMatchObject({ id: "ada" });
  });
});

it("A bearer challenge says what is wrong with a token", () => {
  const bearer = verifier();
  expect(bearer.challenge()).toBe("Bearer");
  expect(bearer.challenge({ error: "invalid_token" })).toBe('Bearer error="invalid_token"');
  expect(bearer.challenge({ error: "insufficient_scope", scopes: ["a", "b"] })).toBe(
    'Bearer error="insufficient_scope", scope="a b"',
  );
});
