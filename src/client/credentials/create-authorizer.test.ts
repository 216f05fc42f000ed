import { describe, expect, it } from "vitest";
import type { AgentCard, SecurityRequirement, SecurityScheme } from "../../protocol/card.ts";
import { RemoteError } from "../http/errors.ts";
import type { CredentialSet, Credentials } from "./contract.ts";
import { createAuthorizer, describeRequirements } from "./create-authorizer.ts";

const HEADER_KEY: SecurityScheme = { type: "apiKey", in: "header", name: "X-Key" };
const QUERY_KEY: SecurityScheme = { type: "apiKey", in: "query", name: "key" };
const COOKIE_KEY: SecurityScheme = { type: "apiKey", in: "cookie", name: "sid" };
const BEARER: SecurityScheme = { type: "http", scheme: "bearer" };
const BASIC: SecurityScheme = { type: "http", scheme: "Basic" };
const DIGEST: SecurityScheme = { type: "http", scheme: "Digest" };
const CERTIFICATE: SecurityScheme = { type: "mutualTLS" };
const OIDC: SecurityScheme = {
  type: "openIdConnect",
  openIdConnectUrl: "https://id.example/.well-known/openid-configuration",
};
const OAUTH: SecurityScheme = {
  type: "oauth2",
  flows: { clientCredentials: { tokenUrl: "https://id.example/token", scopes: { a: "" } } },
};

function cardOf(
  securitySchemes?: Record<string, SecurityScheme>,
  security?: readonly SecurityRequirement[],
): AgentCard {
  return {
    name: "A",
    description: "",
    version: "1",
    interfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    ...(securitySchemes !== undefined && { securitySchemes }),
    ...(security !== undefined && { security }),
  };
}

/** What goes out, and whether anything was put on it. */
async function shown(card: AgentCard, credentials: Credentials): Promise<Record<string, string>> {
  const request = { url: new URL("https://a.example/rpc?x=1"), headers: new Headers({ cookie: "a=b" }) };
  await createAuthorizer(card, credentials).authorize(request, {
    operation: "send",
    signal: new AbortController().signal,
  });
  const { cookie, ...headers } = Object.fromEntries(request.headers);
  return {
    ...headers,
    ...(cookie !== "a=b" && { cookie: cookie ?? "" }),
    ...(request.url.search !== "?x=1" && { query: request.url.search }),
  };
}

describe("what is shown to an agent", () => {
  it.each<[string, AgentCard, CredentialSet, Record<string, string>]>([
    ["a key in a header", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { apiKey: "s3" }, { "x-key": "s3" }],
    ["a key in the query", cardOf({ k: QUERY_KEY }, [{ k: [] }]), { apiKey: "s/3" }, { query: "?x=1&key=s%2F3" }],
    ["a key in a cookie", cardOf({ k: COOKIE_KEY }, [{ k: [] }]), { apiKey: "s3" }, { cookie: "a=b; sid=s3" }],
    ["a key that is fetched", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { apiKey: async () => "s3" }, { "x-key": "s3" }],
    [
      "a key where the card says, whatever the caller says",
      cardOf({ k: HEADER_KEY }, [{ k: [] }]),
      { apiKey: { in: "query", name: "k", value: "s3" } },
      { "x-key": "s3" },
    ],
    ["a bearer token", cardOf({ b: BEARER }, [{ b: [] }]), { bearer: "t" }, { authorization: "Bearer t" }],
    [
      "a name and a password",
      cardOf({ b: BASIC }, [{ b: [] }]),
      { basic: { username: "ä", password: "p:w" } },
      { authorization: "Basic w6Q6cDp3" },
    ],
    [
      "a token for OAuth that is at hand",
      cardOf({ o: OAUTH }, [{ o: ["a"] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "a token for OpenID that is at hand",
      cardOf({ o: OIDC }, [{ o: [] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "what belongs to a scheme by its name",
      cardOf({ d: DIGEST }, [{ d: [] }]),
      { schemes: { d: "q=1" } },
      { authorization: "Digest q=1" },
    ],
    [
      "different keys by name",
      cardOf({ k: HEADER_KEY, q: QUERY_KEY }, [{ k: [], q: [] }]),
      { schemes: { k: "1" }, apiKey: "2" },
      { "x-key": "1", query: "?x=1&key=2" },
    ],
    ["a certificate, which is not seen here", cardOf({ c: CERTIFICATE }, [{ c: [] }]), { mutualTls: true }, {}],
    [
      "all that is wanted together",
      cardOf({ k: HEADER_KEY, b: BEARER }, [{ k: [], b: [] }]),
      { apiKey: "k", bearer: "t" },
      { "x-key": "k", authorization: "Bearer t" },
    ],
    [
      "the first of what can be met",
      cardOf({ k: HEADER_KEY, b: BEARER, c: BASIC }, [{ k: [] }, { b: [] }, { c: [] }]),
      { bearer: "t", basic: { username: "u", password: "p" } },
      { authorization: "Bearer t" },
    ],
    [
      "nothing that is only half enough",
      cardOf({ k: HEADER_KEY, b: BEARER }, [{ k: [], b: [] }, { b: [] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "something, even where nothing would do",
      cardOf({ b: BEARER }, [{}, { b: [] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "nothing where nothing will do and there is nothing else",
      cardOf({ b: BEARER }, [{}, { b: [] }]),
      { apiKey: "k" },
      {},
    ],
    [
      "one of the schemes, where only those are declared",
      cardOf({ k: HEADER_KEY, b: BEARER }),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "what goes without saying, where the card says nothing",
      cardOf(),
      { bearer: "t", apiKey: "k" },
      { authorization: "Bearer t" },
    ],
    [
      "what the caller says the place of, where the card says nothing",
      cardOf(),
      { apiKey: { in: "header", name: "X-Own", value: "k" }, basic: { username: "u", password: "p" } },
      { "x-own": "k", authorization: "Basic dTpw" },
    ],
  ])("is %s", async (...[, card, credentials, expected]) => {
    expect(await shown(card, credentials)).toEqual(expected);
  });

  it("is what a function puts there", async () => {
    const credentials: Credentials = ({ headers }, { operation }) => headers.set("x-mine", operation);
    expect(await shown(cardOf({ b: BEARER }, [{ b: [] }]), credentials)).toEqual({ "x-mine": "send" });
  });

  it.each<[string, AgentCard, CredentialSet, string]>([
    ["a key alone", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { bearer: "hush" }, "k (a key in the header X-Key)"],
    [
      "all of two",
      cardOf({ k: HEADER_KEY, o: OAUTH }, [{ k: [], o: ["a", "b"] }]),
      { apiKey: "hush" },
      "k (a key in the header X-Key) and o (OAuth 2, clientCredentials with a b)",
    ],
    [
      "one of two",
      cardOf({ c: CERTIFICATE, o: OIDC }, [{ c: [] }, { o: [] }]),
      { basic: { username: "u", password: "hush" } },
      "c (a client certificate), or o (OpenID Connect)",
    ],
    ["what is not known", cardOf({}, [{ x: [] }]), { bearer: "hush" }, "x (an unknown scheme)"],
    [
      "what every object has",
      cardOf({}, [{ constructor: [] }]),
      { schemes: {}, bearer: "hush" },
      "constructor (an unknown scheme)",
    ],
    ["another scheme of HTTP", cardOf({ d: DIGEST }, [{ d: [] }]), { bearer: "hush" }, "d (HTTP Digest)"],
  ])("cannot be had where the agent wants %s", (...[, card, credentials, required]) => {
    expect(() => createAuthorizer(card, credentials)).toThrow(
      `requires ${required}. The given credentials do not satisfy`,
    );
    expect(() => createAuthorizer(card, credentials)).toThrow(expect.objectContaining({ code: "no-credentials" }));
    expect(describeRequirements(card)).toBe(required);
  });

  it.each<[string, AgentCard, CredentialSet]>([
    ["a header", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { apiKey: "hush\r\nX-Evil: 1" }],
    ["the header for who one is", cardOf(), { bearer: "hush\n" }],
    ["a header, not being Latin", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { apiKey: "hush\u{1f600}" }],
    ["a cookie", cardOf({ k: COOKIE_KEY }, [{ k: [] }]), { apiKey: "hush; admin=1" }],
  ])("must be something that %s can carry, and is not told where it is not", async (_what, card, credentials) => {
    const error = await shown(card, credentials).then(
      () => expect.fail("It went out."),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: "no-credentials", message: expect.not.stringContaining("hush") });
  });

  it.each([{ bearer: "" }, { bearer: () => "" }, { bearer: (() => undefined) as unknown as () => string }])(
    "must be something at all: %o",
    async (credentials) => {
      await expect(shown(cardOf(), credentials)).rejects.toMatchObject({ code: "no-credentials" });
    },
  );
});

describe("after a refusal", () => {
  const card = cardOf({ b: BEARER }, [{ b: [] }]);
  const challenge = { status: 401, authenticate: undefined };

  async function twice(credentials: CredentialSet): Promise<readonly unknown[]> {
    const { authorize } = createAuthorizer(card, credentials);
    const { signal } = new AbortController();
    const first = { url: new URL("https://a.example"), headers: new Headers() };
    const second = { url: new URL("https://a.example"), headers: new Headers() };
    await authorize(first, { operation: "send", signal });
    const again = await authorize(second, { operation: "send", signal, challenge });
    return [first.headers.get("authorization"), again, second.headers.get("authorization")];
  }

  it("nothing is tried with a token that is always the same", async () => {
    expect(await twice({ bearer: "t" })).toEqual(["Bearer t", false, null]);
    expect(await twice({ bearer: () => "t" })).toEqual(["Bearer t", false, null]);
  });

  it("a token that has changed is tried", async () => {
    let number = 0;
    expect(await twice({ bearer: () => `t${++number}` })).toEqual(["Bearer t1", true, "Bearer t2"]);
  });

  it("what the call did not show before is shown", async () => {
    const request = { url: new URL("https://a.example"), headers: new Headers() };
    const { authorize, prepare } = createAuthorizer(card, { bearer: "t" });
    await prepare();
    const { signal } = new AbortController();
    expect(await authorize(request, { operation: "send", signal, challenge })).toBe(true);
    expect(request.headers.get("authorization")).toBe("Bearer t");
  });
});
