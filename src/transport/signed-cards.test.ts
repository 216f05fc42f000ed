import { verifyAgentCardSignature } from "a2a-sdk-v1";
import { expect, it, vi } from "vitest";
import { canonicalJson } from "../auth/canonical-json.ts";
import { createSigner } from "../auth/create-signer.ts";
import { type DetachedSignature, isSignatureOf, type KeySet } from "../auth/detached-signature.ts";
import type { SigningKey, SigningKeys } from "../auth/signing-keys.ts";
import { generateSigningKey, keysOf, publicPartOf } from "../auth/test/keys.ts";
import { verifyCard } from "../client/discovery/verify-card.ts";
import type { SigningOptions } from "./agent-router.ts";
import { describeFaces, type Loose, type Site } from "./test/faces.ts";

const PATH = "/.well-known/agent-card.json";
const KEYS = "/.well-known/jwks.json";

function signing(keys: SigningKeys): { readonly signing: SigningOptions } {
  return { signing: { keys, cards: createSigner(keys) } };
}

async function read(site: Site, version?: string, path = PATH): Promise<Loose> {
  const headers: Record<string, string> = version === undefined ? {} : { "a2a-version": version };
  return (await site.request(path, { headers })).json();
}

function trusting(key: SigningKey): { readonly jwks: KeySet } {
  return { jwks: { keys: [publicPartOf(key)] } };
}

interface SignedCard {
  readonly signatures: readonly DetachedSignature[];
}

/** Empty lists distinguish the forms that may be signed. */
const definition = { skills: [{ id: "say", name: "Say", description: "Says it.", tags: [], examples: [] }] };

describeFaces("A signed card", (open) => {
  it.each(["1.0", undefined, "0.3"])("of version %s is valid, and names the URL of its key", async (version) => {
    const key = await generateSigningKey();
    const site = await open({ ...signing(keysOf(key)), definition });
    const card = await read(site, version);
    expect(await verifyCard(card, trusting(key))).toMatchObject({ kid: key.kid, alg: "ES256" });
    const header = JSON.parse(Buffer.from(card.signatures[0].protected, "base64url").toString());
    expect(header).toEqual({ alg: "ES256", typ: "JOSE", kid: key.kid, jku: `http://agents.example${KEYS}` });
    for (const changed of [
      { ...card, name: "Other" },
      { ...card, skills: [] },
    ]) {
      await expect(verifyCard(changed, trusting(key))).rejects.toMatchObject({ code: "invalid-signature" });
    }
  });

  it.each(["1.0", undefined])("of version %s is valid for the official library as well", async (version) => {
    const key = await generateSigningKey();
    const site = await open({ ...signing(keysOf(key)), definition });
    const card = await read(site, version);
    // The library logs every signature that does not match.
    vi.spyOn(console, "debug").mockReturnValue();
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      expect([kid, jku]).toEqual([key.kid, `http://agents.example${KEYS}`]);
      return publicPartOf(key);
    });
    await verify(card);
    await expect(verify({ ...card, description: "Other" })).rejects.toThrow("No valid signatures");
  });

  it.each(["1.0", undefined, "0.3"])("of version %s is also valid over the complete JSON", async (version) => {
    const key = await generateSigningKey();
    const site = await open({ ...signing(keysOf(key)), definition });
    const { signatures, ...written }: SignedCard = await read(site, version);
    const options = { key: publicPartOf(key), algorithms: ["ES256"] };
    const verdicts = signatures.map((one) => isSignatureOf(one, canonicalJson(written), options));
    expect(await Promise.all(verdicts)).toContain(true);
  });

  it("is signed once, and again only after the current key changed", async () => {
    const [first, second] = [await generateSigningKey(), await generateSigningKey()];
    let current = first;
    const site = await open({ ...signing({ current: () => current, published: () => [] }), definition });
    const before = await read(site, "1.0");
    expect(await Promise.all([read(site, "1.0"), read(site, "1.0")])).toEqual([before, before]);
    current = second;
    const after = await read(site, "1.0");
    expect(after).not.toEqual(before);
    await verifyCard(after, trusting(second));
    expect(await read(site, "1.0")).toEqual(after);
  });

  it("is also signed if it is an extended card", async () => {
    const key = await generateSigningKey();
    const site = await open({
      ...signing(keysOf(key)),
      definition: { ...definition, extendedCard: ({ id }) => ({ description: `For ${id}.` }) },
      authenticate: () => ({ id: "ada", anonymous: false }),
    });
    const overRpc = (await site.call("GetExtendedAgentCard", {})).result;
    const overRest = await (await site.request("/extendedAgentCard", { headers: { "a2a-version": "1.0" } })).json();
    for (const card of [overRpc, overRest]) {
      expect(card).toMatchObject({ description: "For ada.", signatures: expect.any(Array) });
      await verifyCard(card, trusting(key));
      await expect(verifyCard({ ...card, description: "For eve." }, trusting(key))).rejects.toThrow();
    }
  });

  it("is absent if the version has no signatures, or signing is off", async () => {
    const keys = keysOf(await generateSigningKey());
    const site = await open(signing(keys));
    expect(await read(site, "0.2")).not.toHaveProperty("signatures");
    expect(await read(site, "0.1", "/.well-known/agent.json")).not.toHaveProperty("signatures");
    expect(await read(await open({ signing: { keys } }))).not.toHaveProperty("signatures");
    expect(await read(await open())).not.toHaveProperty("signatures");
  });
});

describeFaces("The keys of a server", (open) => {
  it("are public, contain no secrets, and are answered with 304 to readers that have them", async () => {
    const key = await generateSigningKey();
    const site = await open({ signing: { keys: keysOf(key) } });
    const response = await site.request(KEYS, { headers: { origin: "https://app.example" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/jwk-set+json");
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response.json()).toEqual({ keys: [publicPartOf(key)] });
    const headers = { "if-none-match": response.headers.get("etag") ?? "" };
    expect((await site.request(KEYS, { headers })).status).toBe(304);
    expect((await site.request(KEYS, { method: "POST" })).status).toBe(405);
    expect((await site.request(`/agents/echo${KEYS}`)).status).toBe(404);
  });

  it("do not exist if nothing is signed", async () => {
    expect((await (await open()).request(KEYS)).status).toBe(404);
  });
});
