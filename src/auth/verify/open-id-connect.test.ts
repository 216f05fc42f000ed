import { describe, expect, it } from "vitest";
import { openIdConnect } from "./open-id-connect.ts";
import { AUDIENCE, createIssuer, createWeb, ISSUER, NOW } from "./test/issuer.ts";
import { bearing } from "./test/shown.ts";

const DOCUMENT = `${ISSUER}/.well-known/openid-configuration`;
const KEYS = "https://keys.example/jwks";
const issuer = await createIssuer();

function open(pages: Readonly<Record<string, unknown>>, url = ISSUER) {
  const web = createWeb({ [KEYS]: { keys: [issuer.publicKey] }, ...pages });
  const time = { now: 0 };
  const options = { url, audience: AUDIENCE, fetch: web.fetch, now: () => NOW, monotonic: () => time.now };
  return { web, time, verifier: openIdConnect(options) };
}

describe("A token of an OpenID provider", () => {
  it.each([ISSUER, `${ISSUER}/`, DOCUMENT])("is verified with the keys found through %s", async (url) => {
    const { web, verifier } = open({ [DOCUMENT]: { issuer: ISSUER, jwks_uri: KEYS } }, url);
    const token = await issuer.token();
    expect(await verifier.verify(bearing(token))).toMatchObject({ id: "ada" });
    await verifier.verify(bearing(token));
    expect(web.asked).toEqual([DOCUMENT, KEYS]);
    expect(verifier.scheme).toEqual({ type: "openIdConnect", openIdConnectUrl: DOCUMENT });
  });

  it("must name the issuer exactly as its document does", async () => {
    const { verifier } = open({ [DOCUMENT]: { issuer: `${ISSUER}/`, jwks_uri: KEYS } });
    expect(await verifier.verify(bearing(await issuer.token({ iss: `${ISSUER}/` })))).toMatchObject({ id: "ada" });
    await expect(verifier.verify(bearing(await issuer.token()))).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it.each<[string, unknown]>([
    ["is of another issuer", { issuer: "https://evil.example", jwks_uri: KEYS }],
    ["has no issuer", { jwks_uri: KEYS }],
    ["has no jwks_uri", { issuer: ISSUER }],
    ["has an http jwks_uri", { issuer: ISSUER, jwks_uri: "http://keys.example/jwks" }],
    ["is not JSON", "hello"],
  ])("cannot be verified if the discovery document %s", async (_, document) => {
    const { web, time, verifier } = open({ [DOCUMENT]: document });
    const token = await issuer.token();
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(verifier.verify(bearing(token))).rejects.toMatchObject({ code: "unavailable" });
    }
    expect(web.asked).toEqual([DOCUMENT]);
    web.pages.set(DOCUMENT, { issuer: ISSUER, jwks_uri: KEYS });
    time.now = 5000;
    expect(await verifier.verify(bearing(token))).toMatchObject({ id: "ada" });
  });

  it("is verified with the cached keys while the provider is unreachable", async () => {
    const { web, time, verifier } = open({ [DOCUMENT]: { issuer: ISSUER, jwks_uri: KEYS } });
    const token = await issuer.token();
    await verifier.verify(bearing(token));
    web.pages.set(DOCUMENT, new TypeError("fetch failed"));
    time.now = 3_600_000 - 1;
    expect(await verifier.verify(bearing(token))).toMatchObject({ id: "ada" });
    time.now = 3_700_000;
    expect(await verifier.verify(bearing(token))).toMatchObject({ id: "ada" });
  });
});

it("An OpenID provider must have an http or https URL", () => {
  expect(() => openIdConnect({ url: "file:///etc/passwd", audience: "a", fetch: createWeb({}).fetch })).toThrow(
    TypeError,
  );
  expect(() => openIdConnect({ url: "issuer", audience: "a", fetch: createWeb({}).fetch })).toThrow(TypeError);
});
