import { createHash } from "node:crypto";
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { digestOf, isSameSecret } from "./body-digest.ts";
import { createSigner } from "./create-signer.ts";
import { isSignatureOf, readSignatureHeader } from "./detached-signature.ts";
import type { SigningKey } from "./signing-keys.ts";
import { generateSigningKey, keysOf, publicPartOf } from "./test/keys.ts";
import { claimedIssuer, type NotificationCheck, verifyNotification } from "./verify-notification.ts";

const NOW = Date.UTC(2026, 0, 1);
const BODY = '{"task":{"id":"t1"}}';
const notification = {
  issuer: "https://agents.example.org",
  audience: "https://hooks.example.org/in?x=1",
  taskId: "t1",
  jti: "j1",
  body: BODY,
  now: NOW,
};

async function checkWith(key: SigningKey, token: string, changes: Partial<NotificationCheck> = {}): Promise<unknown> {
  return verifyNotification(token, {
    issuer: notification.issuer,
    findKey: createLocalJWKSet({ keys: [publicPartOf(key)] }),
    isAudience: (audience) => audience === notification.audience,
    body: new TextEncoder().encode(BODY),
    now: NOW,
    maxAge: 300_000,
    clockSkew: 60_000,
    ...changes,
  });
}

describe("the signature of a notification", () => {
  it("contains issuer, audience, task and body digest", async () => {
    const key = await generateSigningKey();
    const token = await createSigner(keysOf(key)).signNotification(notification);
    expect(decodeProtectedHeader(token)).toEqual({ alg: "ES256", typ: "JWT", kid: key.kid });
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [publicPartOf(key)] }), {
      currentDate: new Date(NOW),
    });
    expect(payload).toEqual({
      iss: notification.issuer,
      aud: notification.audience,
      iat: NOW / 1000,
      exp: NOW / 1000 + 300,
      jti: "j1",
      taskId: "t1",
      request_body_sha256: createHash("sha256").update(BODY).digest("hex"),
    });
  });

  it("is valid, and says until when", async () => {
    const key = await generateSigningKey();
    const token = await createSigner(keysOf(key)).signNotification(notification);
    expect(claimedIssuer(token)).toBe(notification.issuer);
    expect(await checkWith(key, token)).toEqual({
      claims: { issuer: notification.issuer, taskId: "t1", jti: "j1", until: NOW + 360_000 },
    });
  });

  it.each<[string, Partial<NotificationCheck>]>([
    ["wrong-body", { body: new TextEncoder().encode(`${BODY} `) }],
    ["wrong-audience", { isAudience: () => false }],
    ["too-old", { now: NOW + 361_000 }],
    ["too-old", { now: NOW + 100_000, maxAge: 30_000 }],
    ["too-new", { now: NOW - 61_000 }],
    ["bad-signature", { issuer: "https://other.example.org" }],
  ])("is refused as %s", async (problem, changes) => {
    const key = await generateSigningKey();
    const token = await createSigner(keysOf(key)).signNotification(notification);
    expect(await checkWith(key, token, changes)).toEqual({ problem });
  });

  it("is refused if another key made it, even with our key id", async () => {
    const [ours, theirs] = [await generateSigningKey(), await generateSigningKey()];
    const signed = (key: SigningKey) => createSigner(keysOf(key)).signNotification(notification);
    expect(await checkWith(ours, await signed(theirs))).toEqual({ problem: "unknown-key" });
    expect(await checkWith(ours, await signed({ ...theirs, kid: ours.kid }))).toEqual({ problem: "bad-signature" });
  });

  it("is refused if it is not a token, or names another algorithm", async () => {
    const key = await generateSigningKey();
    const token = await createSigner(keysOf(key)).signNotification(notification);
    const [, payload = "", signature = ""] = token.split(".");
    const encode = (header: object) => Buffer.from(JSON.stringify(header)).toString("base64url");
    const none = `${encode({ alg: "none" })}.${payload}.`;
    const shared = `${encode({ alg: "HS256", kid: key.kid })}.${payload}.${signature}`;
    for (const forged of [none, shared, "x", "a.b.c", ""]) {
      expect(await checkWith(key, forged), forged).toEqual({ problem: "bad-signature" });
    }
    expect(claimedIssuer("a.b.c")).toBeUndefined();
  });
});

describe("the signature of a card", () => {
  it("is detached, and names its key id and the URL of the key set", async () => {
    const key = await generateSigningKey();
    const signature = await createSigner(keysOf(key)).signCard('{"name":"Ä"}', {
      jku: "https://a/.well-known/jwks.json",
    });
    expect(Object.keys(signature).sort()).toEqual(["protected", "signature"]);
    expect(decodeProtectedHeader(signature)).toMatchObject({ typ: "JOSE" });
    const expected = { alg: "ES256", kid: key.kid, jku: "https://a/.well-known/jwks.json" };
    expect(readSignatureHeader(signature)).toEqual(expected);
    const options = { key: publicPartOf(key), algorithms: ["ES256"] };
    expect(await isSignatureOf(signature, '{"name":"Ä"}', options)).toBe(true);
    expect(await isSignatureOf(signature, '{"name":"A"}', options)).toBe(false);
  });
});

describe("a signer", () => {
  it("uses the new key after the current key changed", async () => {
    const [first, second] = [await generateSigningKey(), await generateSigningKey()];
    let current = first;
    const signer = createSigner({ current: () => current, published: () => [] });
    expect(decodeProtectedHeader(await signer.signNotification(notification)).kid).toBe(first.kid);
    current = second;
    expect(signer.kid).toBe(second.kid);
    expect(decodeProtectedHeader(await signer.signNotification(notification)).kid).toBe(second.kid);
  });

  it("does not sign with a shared secret", async () => {
    const secret: JWK = { kty: "oct", k: "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", kid: "s" };
    await expect(createSigner(keysOf({ ...secret, kid: "s" })).signCard("{}")).rejects.toThrow("shared secret");
  });
});

describe("secrets", () => {
  it("are equal only if all characters are", async () => {
    expect(await isSameSecret("abc", "abc")).toBe(true);
    expect(await isSameSecret("abc", "abd")).toBe(false);
    expect(await isSameSecret("abc", "abcd")).toBe(false);
    expect(await isSameSecret("", "")).toBe(true);
  });

  it("have the standard SHA-256 digest", async () => {
    expect(await digestOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(await digestOf(new TextEncoder().encode("ü"))).toBe(await digestOf("ü"));
  });
});
