import { AgentCard, generateAgentCardSignature } from "a2a-sdk-v1";
import { exportJWK, FlattenedSign, generateKeyPair, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../auth/canonical-json.ts";
import type { PublishedKey } from "../../auth/detached-signature.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { signedForms } from "../../wire/card/signed-card.ts";
import { createDialects } from "../../wire/dialects.ts";
import type { FetchOptions } from "../http/fetch-document.ts";
import { served } from "./test/served.ts";
import { type CardVerification, verifyCard } from "./verify-card.ts";

const KEYS_AT = "https://keys.example/jwks.json";

type Json = Readonly<Record<string, unknown>>;

const card: Json = JSON.parse(
  createDialects({ card: "strict" })
    .chooseCard(undefined)
    .encodeCard({
      name: "Signed",
      description: "",
      version: "1.0.0",
      interfaces: createDialects().interfaces("https://a.example"),
      capabilities: { streaming: false, extensions: [{ uri: "urn:x", required: false }] },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: [],
      skills: [{ id: "s", name: "S", description: "D", tags: ["t"], examples: [] }],
    }),
);

interface Signer {
  readonly jwk: PublishedKey;
  sign(payload: string, header?: object): Promise<object>;
}

async function signer(kid: string, alg = "ES256"): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid };
  return {
    jwk,
    async sign(payload, header = {}) {
      const signing = new FlattenedSign(new TextEncoder().encode(payload));
      const { protected: head, signature } = await signing
        .setProtectedHeader({ alg, kid, typ: "JOSE", ...header })
        .sign(privateKey);
      return { protected: head, signature };
    },
  };
}

/** The card, signed over one of its canonical forms. */
async function signed(by: Signer, form = 0, header?: object): Promise<Json> {
  const signature = await by.sign(canonicalJson(signedForms(card)[form]?.json), header);
  return { ...card, signatures: [signature] };
}

const ada = await signer("ada");
const trusted: CardVerification = { jwks: { keys: [ada.jwk] } };

async function refusal(given: Json, verification = trusted, options?: FetchOptions): Promise<string> {
  try {
    await verifyCard(given, verification, options);
  } catch (error) {
    expect(error).toMatchObject({ name: "RemoteError", code: "invalid-signature" });
    return error instanceof Error ? error.message : "";
  }
  return "verified";
}

describe("a signed card", () => {
  it.each([
    [0, "definition"],
    [1, "without-empty"],
    [2, "as-written"],
  ])("is verified over canonical form %i: %s", async (form, name) => {
    const given = await signed(ada, form);
    const { signatures: _signatures, ...rest } = given;
    const verified = await verifyCard(given, trusted);
    expect(verified).toEqual({ json: signedForms(rest)[form]?.json, kid: "ada", alg: "ES256", form: name });
  });

  it.each(["ES384", "EdDSA", "RS256", "PS256"])("is verified with %s", async (alg) => {
    const bob = await signer("bob", alg);
    expect(await verifyCard(await signed(bob), { jwks: { keys: [bob.jwk] } })).toMatchObject({ alg });
  });

  it("is verified if the official library signed it", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const sign = generateAgentCardSignature(privateKey, { alg: "ES256", kid: "them", typ: "JOSE" });
    const theirs = AgentCard.toJSON(await sign(AgentCard.fromJSON(card)));
    const verified = await verifyCard(JSON.parse(JSON.stringify(theirs)), { keys: () => publicKey });
    expect(verified).toMatchObject({ kid: "them", json: { name: "Signed" } });
  });

  it("keeps only the fields that the signature covers", async () => {
    const given = { ...(await signed(ada, 1)), url: "https://evil.example", additionalInterfaces: [] };
    const { json } = await verifyCard(given, trusted);
    expect(json).not.toHaveProperty("url");
    expect(json).toHaveProperty("supportedInterfaces");
  });

  it("may have several signatures, one of which must be valid", async () => {
    const bob = await signer("bob");
    const payload = canonicalJson(signedForms(card)[0]?.json);
    const signatures = [await bob.sign(payload), { nonsense: true }, await ada.sign(payload)];
    expect(await verifyCard({ ...card, signatures }, trusted)).toMatchObject({ kid: "ada" });
  });

  it.each<[string, (good: Json) => Json, string]>([
    ["no signatures", () => card, "is not signed"],
    [
      "invalid signature objects",
      () => ({ ...card, signatures: [1, {}, { protected: 1, signature: 2 }] }),
      "is not signed",
    ],
    ["a changed name", (good) => ({ ...good, name: "Forged" }), "not that of this card"],
    ["changed interfaces", (good) => ({ ...good, supportedInterfaces: [] }), "not that of this card"],
    ["an invalid header", (good) => ({ ...good, signatures: [{ protected: "!", signature: "x" }] }), "signatures[0]"],
    [
      "algorithm none",
      (good) => ({ ...good, signatures: [{ protected: btoa('{"alg":"none","kid":"ada"}'), signature: "" }] }),
      "algorithm",
    ],
    [
      "no key id",
      (good) => ({ ...good, signatures: [{ protected: btoa('{"alg":"ES256"}'), signature: "" }] }),
      "has no kid",
    ],
  ])("is refused with %s", async (_what, change, reason) => {
    expect(await refusal(change(await signed(ada)))).toContain(reason);
  });

  it("is refused with an untrusted key or with an algorithm that is not allowed", async () => {
    const mallory = await signer("mallory");
    expect(await refusal(await signed(mallory))).toContain("not a trusted key");
    const impostor = await signer("ada");
    expect(await refusal(await signed(impostor))).toContain("not that of this card");
    expect(await refusal(await signed(ada), { ...trusted, algorithms: ["RS256"] })).toContain("algorithm");
    expect(await refusal(await signed(ada), {})).toContain("trusted");
  });

  it("is refused with a symmetric key, even if the caller allows it", async () => {
    const secret: PublishedKey = { kty: "oct", k: "c2VjcmV0", kid: "ada" };
    const forged = { ...card, signatures: [{ protected: btoa('{"alg":"HS256","kid":"ada"}'), signature: "AA" }] };
    expect(await refusal(forged, { jwks: { keys: [secret] }, algorithms: ["HS256"] })).toContain("algorithm");
    expect(await refusal(await signed(ada), { jwks: { keys: [secret] } })).toContain("secret");
  });

  it.each<[Partial<PublishedKey>, string]>([
    [{ exp: 1_893_456_000 }, "has expired"],
    [{ exp: Number.NaN }, "has expired"],
    [{ nbf: 1_893_456_001 }, "not valid yet"],
    [{ revoked: { revoked_at: 1 } }, "revoked"],
    [{ use: "enc" }, "not for signatures"],
    [{ key_ops: ["encrypt"] }, "not for verifying"],
    [{ alg: "ES384" }, "for ES384"],
  ])("is refused with a key that has %j", async (members, reason) => {
    const options = { clock: new FakeClock(1_893_456_000_000) };
    const jwks = { keys: [{ ...ada.jwk, ...members }] };
    expect(await refusal(await signed(ada), { jwks }, options)).toContain(reason);
  });

  it("is refused if it is nested too deeply", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
    const given = { ...(await signed(ada)), capabilities: { extensions: [{ params: deep }] } };
    await expect(verifyCard(given, trusted)).rejects.toMatchObject({ code: "invalid-card" });
  });
});

describe("a signature with a key URL (jku)", () => {
  const verification: CardVerification = { jwksHosts: ["keys.example"] };

  it("is verified with the key from a trusted host", async () => {
    const server = served({ [KEYS_AT]: { keys: [null, 1, ada.jwk] } });
    const given = await signed(ada, 0, { jku: KEYS_AT });
    expect(await verifyCard(given, verification, server)).toMatchObject({ kid: "ada" });
    expect(server.asked).toEqual([`GET ${KEYS_AT}`]);
  });

  it("has its keys cached for 10 minutes; unknown keys refetch them at most every 30 seconds", async () => {
    const clock = new FakeClock(Date.UTC(2030, 0));
    const keys: unknown[] = [ada.jwk];
    const server = served({ [KEYS_AT]: () => Response.json({ keys }) });
    const options = { fetch: server.fetch, clock };
    const byAda = await signed(ada, 0, { jku: KEYS_AT });
    const bob = await signer("bob");
    const byBob = await signed(bob, 0, { jku: KEYS_AT });
    for (let turn = 0; turn < 3; turn++) await verifyCard(byAda, verification, options);
    expect(server.asked).toHaveLength(1);
    // Unknown key ids do not refetch the keys within 30 seconds.
    for (let turn = 0; turn < 3; turn++) expect(await refusal(byBob, verification, options)).toContain("trusted");
    expect(server.asked).toHaveLength(1);
    keys.push(bob.jwk);
    await clock.advance(30_000);
    expect(await verifyCard(byBob, verification, options)).toMatchObject({ kid: "bob" });
    expect(server.asked).toHaveLength(2);
    keys.shift();
    await clock.advance(9 * 60_000);
    await verifyCard(byAda, verification, options);
    await clock.advance(60_000);
    expect(await refusal(byAda, verification, options)).toContain("trusted");
    expect(server.asked).toHaveLength(3);
  });

  it("is not accepted from the cache of a caller who trusts more hosts", async () => {
    const elsewhere = "https://other.example/jwks.json";
    const server = served({
      [KEYS_AT]: () => new Response("", { status: 302, headers: { location: elsewhere } }),
      [elsewhere]: { keys: [ada.jwk] },
    });
    const given = await signed(ada, 0, { jku: KEYS_AT });
    const both = { jwksHosts: ["keys.example", "other.example"] };
    expect(await verifyCard(given, both, server)).toMatchObject({ kid: "ada" });
    expect(await refusal(given, verification, server)).toContain("not trusted");
  });

  it.each([
    "https://evil.example/jwks.json",
    "http://keys.example/jwks.json",
    "https://keys.example:8443/jwks.json",
    "https://keys.example.evil.example/jwks.json",
    "https://keys.example@evil.example/",
    "nonsense",
  ])("is not verified with keys from %s", async (jku) => {
    const server = served({});
    expect(await refusal(await signed(ada, 0, { jku }), verification, server)).toContain("not a trusted key");
    expect(server.asked).toEqual([]);
  });

  it("is not verified with keys from an untrusted host that a trusted host redirects to", async () => {
    const elsewhere = "https://evil.example/jwks.json";
    const server = served({
      [KEYS_AT]: () => new Response("", { status: 302, headers: { location: elsewhere } }),
      [elsewhere]: { keys: [ada.jwk] },
    });
    const given = await signed(ada, 0, { jku: KEYS_AT });
    expect(await refusal(given, verification, server)).toContain("not trusted");
    expect(server.asked).toEqual([`GET ${KEYS_AT}`]);
  });

  it.each<[string, () => Response]>([
    ["do not exist", () => new Response("", { status: 404 })],
    ["are not JSON", () => new Response("<html>")],
    ["are not a list", () => Response.json({ keys: {} })],
  ])("is refused if its keys %s", async (_what, answer) => {
    const server = served({ [KEYS_AT]: answer });
    const given = await signed(ada, 0, { jku: KEYS_AT });
    expect(await refusal(given, verification, server)).toContain("could not be fetched");
  });
});
