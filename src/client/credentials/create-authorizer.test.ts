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

/** The authorized request, and whether credentials were added. */
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

describe("credentials in a request", () => {
  it.each<[string, AgentCard, CredentialSet, Record<string, string>]>([
    ["a key in a header", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { apiKey: "s3" }, { "x-key": "s3" }],
    ["a key in the query", cardOf({ k: QUERY_KEY }, [{ k: [] }]), { apiKey: "s/3" }, { query: "?x=1&key=s%2F3" }],
    ["a key in a cookie", cardOf({ k: COOKIE_KEY }, [{ k: [] }]), { apiKey: "s3" }, { cookie: "a=b; sid=s3" }],
    [
      "a key that a function returns",
      cardOf({ k: HEADER_KEY }, [{ k: [] }]),
      { apiKey: async () => "s3" },
      { "x-key": "s3" },
    ],
    [
      "a key in the place that the card declares, even if the caller names another place",
      cardOf({ k: HEADER_KEY }, [{ k: [] }]),
      { apiKey: { in: "query", name: "k", value: "s3" } },
      { "x-key": "s3" },
    ],
    ["a bearer token", cardOf({ b: BEARER }, [{ b: [] }]), { bearer: "t" }, { authorization: "Bearer t" }],
    [
      "a user name and a password",
      cardOf({ b: BASIC }, [{ b: [] }]),
      { basic: { username: "ä", password: "p:w" } },
      { authorization: "Basic w6Q6cDp3" },
    ],
    [
      "a given bearer token for OAuth 2",
      cardOf({ o: OAUTH }, [{ o: ["a"] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "a given bearer token for OpenID Connect",
      cardOf({ o: OIDC }, [{ o: [] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "the credentials that the caller gives for a scheme name",
      cardOf({ d: DIGEST }, [{ d: [] }]),
      { schemes: { d: "q=1" } },
      { authorization: "Digest q=1" },
    ],
    [
      "different keys for different scheme names",
      cardOf({ k: HEADER_KEY, q: QUERY_KEY }, [{ k: [], q: [] }]),
      { schemes: { k: "1" }, apiKey: "2" },
      { "x-key": "1", query: "?x=1&key=2" },
    ],
    [
      "a client certificate, which adds nothing to the request",
      cardOf({ c: CERTIFICATE }, [{ c: [] }]),
      { mutualTls: true },
      {},
    ],
    [
      "the credentials of all schemes that one requirement combines",
      cardOf({ k: HEADER_KEY, b: BEARER }, [{ k: [], b: [] }]),
      { apiKey: "k", bearer: "t" },
      { "x-key": "k", authorization: "Bearer t" },
    ],
    [
      "those of the first requirement that can be met",
      cardOf({ k: HEADER_KEY, b: BEARER, c: BASIC }, [{ k: [] }, { b: [] }, { c: [] }]),
      { bearer: "t", basic: { username: "u", password: "p" } },
      { authorization: "Bearer t" },
    ],
    [
      "not those of a requirement that can be met only in part",
      cardOf({ k: HEADER_KEY, b: BEARER }, [{ k: [], b: [] }, { b: [] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "sent even if anonymous calls are allowed",
      cardOf({ b: BEARER }, [{}, { b: [] }]),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "absent if anonymous calls are allowed and no other requirement can be met",
      cardOf({ b: BEARER }, [{}, { b: [] }]),
      { apiKey: "k" },
      {},
    ],
    [
      "those of one scheme if the card declares schemes without requirements",
      cardOf({ k: HEADER_KEY, b: BEARER }),
      { bearer: "t" },
      { authorization: "Bearer t" },
    ],
    [
      "a bearer token if the card declares nothing",
      cardOf(),
      { bearer: "t", apiKey: "k" },
      { authorization: "Bearer t" },
    ],
    [
      "a key in the place that the caller names if the card declares nothing",
      cardOf(),
      { apiKey: { in: "header", name: "X-Own", value: "k" }, basic: { username: "u", password: "p" } },
      { "x-own": "k", authorization: "Basic dTpw" },
    ],
  ])("are %s", async (...[, card, credentials, expected]) => {
    expect(await shown(card, credentials)).toEqual(expected);
  });

  it("are added by a custom function", async () => {
    const credentials: Credentials = ({ headers }, { operation }) => headers.set("x-mine", operation);
    expect(await shown(cardOf({ b: BEARER }, [{ b: [] }]), credentials)).toEqual({ "x-mine": "send" });
  });

  it.each<[string, AgentCard, CredentialSet, string]>([
    ["a key", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { bearer: "hush" }, "k (a key in the header X-Key)"],
    [
      "two schemes together",
      cardOf({ k: HEADER_KEY, o: OAUTH }, [{ k: [], o: ["a", "b"] }]),
      { apiKey: "hush" },
      "k (a key in the header X-Key) and o (OAuth 2, clientCredentials with a b)",
    ],
    [
      "one of two schemes",
      cardOf({ c: CERTIFICATE, o: OIDC }, [{ c: [] }, { o: [] }]),
      { basic: { username: "u", password: "hush" } },
      "c (a client certificate), or o (OpenID Connect)",
    ],
    ["an undeclared scheme", cardOf({}, [{ x: [] }]), { bearer: "hush" }, "x (an unknown scheme)"],
    [
      "a scheme named like a property that every object inherits",
      cardOf({}, [{ constructor: [] }]),
      { schemes: {}, bearer: "hush" },
      "constructor (an unknown scheme)",
    ],
    [
      "an unsupported HTTP authentication scheme",
      cardOf({ d: DIGEST }, [{ d: [] }]),
      { bearer: "hush" },
      "d (HTTP Digest)",
    ],
  ])("are missing if the agent requires %s; the error lists the requirements", (...[, card, credentials, required]) => {
    expect(() => createAuthorizer(card, credentials)).toThrow(
      `requires ${required}. The given credentials do not satisfy`,
    );
    expect(() => createAuthorizer(card, credentials)).toThrow(expect.objectContaining({ code: "no-credentials" }));
    expect(describeRequirements(card)).toBe(required);
  });

  it.each<[string, AgentCard, CredentialSet]>([
    ["a header", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { apiKey: "hush\r\nX-Evil: 1" }],
    ["the Authorization header", cardOf(), { bearer: "hush\n" }],
    ["a header, which allows only Latin-1", cardOf({ k: HEADER_KEY }, [{ k: [] }]), { apiKey: "hush\u{1f600}" }],
    ["a cookie", cardOf({ k: COOKIE_KEY }, [{ k: [] }]), { apiKey: "hush; admin=1" }],
  ])("are rejected if they are invalid in %s; the error does not contain them", async (_what, card, credentials) => {
    const error = await shown(card, credentials).then(
      () => expect.fail("It went out."),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: "no-credentials", message: expect.not.stringContaining("hush") });
  });

  it.each([{ bearer: "" }, { bearer: () => "" }, { bearer: (() => undefined) as unknown as () => string }])(
    "must not be empty: %o",
    async (credentials) => {
      await expect(shown(cardOf(), credentials)).rejects.toMatchObject({ code: "no-credentials" });
    },
  );
});

describe("after the agent rejected the credentials", () => {
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

  it("a constant token is not sent again", async () => {
    expect(await twice({ bearer: "t" })).toEqual(["Bearer t", false, null]);
    expect(await twice({ bearer: () => "t" })).toEqual(["Bearer t", false, null]);
  });

  it("a changed token is sent", async () => {
    let number = 0;
    expect(await twice({ bearer: () => `t${++number}` })).toEqual(["Bearer t1", true, "Bearer t2"]);
  });

  it("credentials that the first attempt did not carry are sent", async () => {
    const request = { url: new URL("https://a.example"), headers: new Headers() };
    const { authorize, prepare } = createAuthorizer(card, { bearer: "t" });
    await prepare();
    const { signal } = new AbortController();
    expect(await authorize(request, { operation: "send", signal, challenge })).toBe(true);
    expect(request.headers.get("authorization")).toBe("Bearer t");
  });
});
