import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { AgentCard, SecurityScheme } from "../../protocol/card.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { type Answer, type Seen, type Served, served } from "../discovery/test/served.ts";
import { RemoteError } from "../http/errors.ts";
import type { CredentialSet, DevicePrompt, OAuthCredentials, Token } from "./contract.ts";
import { type Authorizer, createAuthorizer } from "./create-authorizer.ts";

const TOKEN = "https://id.example/token";
const DEVICE = "https://id.example/device";
const LOGIN = "https://id.example/login";
const DISCOVERY = "https://id.example/.well-known/openid-configuration";

const FLOWS = {
  clientCredentials: { tokenUrl: TOKEN, scopes: { read: "" } },
  deviceCode: { tokenUrl: TOKEN, deviceAuthorizationUrl: DEVICE, scopes: {} },
  authorizationCode: { tokenUrl: TOKEN, authorizationUrl: `${LOGIN}?theme=dark`, scopes: {} },
};
const OAUTH: SecurityScheme = { type: "oauth2", flows: FLOWS };
const PROGRAM: OAuthCredentials = { clientId: "me", clientSecret: "s3cret:value" };

function cardWith(scheme: SecurityScheme, scopes: readonly string[] = ["read", "write"]): AgentCard {
  return {
    name: "A",
    description: "",
    version: "1",
    interfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    securitySchemes: { o: scheme },
    security: [{ o: scopes }],
  };
}

function form({ body }: Seen | { readonly body: string }): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}

/** Tokens by number: `t1`, `t2` and so on. */
function issuing(more: Record<string, unknown> = { expires_in: 3600 }): () => Record<string, unknown> {
  let number = 0;
  return () => ({ access_token: `t${++number}`, token_type: "bearer", ...more });
}

function refusing(error: string, description?: string, status = 400): Response {
  return Response.json({ error, error_description: description }, { status });
}

class Trial {
  readonly clock = new FakeClock();
  readonly server: Served;
  readonly authorizer: Authorizer;

  constructor(
    table: Readonly<Record<string, Answer>>,
    oauth2: OAuthCredentials,
    {
      scheme = OAUTH,
      scopes,
      more,
    }: { scheme?: SecurityScheme; scopes?: readonly string[]; more?: CredentialSet } = {},
  ) {
    this.server = served(table);
    const fetching = { fetch: this.server.fetch, clock: this.clock };
    this.authorizer = createAuthorizer(cardWith(scheme, scopes), { oauth2, ...more }, fetching);
  }

  /** The credentials of one call. With `refused`, those after the agent rejected them. */
  async call(signal = new AbortController().signal, refused = false): Promise<string | false> {
    const request = { url: new URL("https://a.example"), headers: new Headers() };
    const challenge = { status: 401, authenticate: "Bearer" };
    const context = { operation: "send", signal, ...(refused && { challenge }) } as const;
    const done = await this.authorizer.authorize(request, context);
    return done === false ? false : (request.headers.get("authorization") ?? "nothing");
  }

  /** The credentials of a call, and those after the agent rejected them. */
  async twice(): Promise<readonly (string | false)[]> {
    const { signal } = new AbortController();
    return [await this.call(signal), await this.call(signal, true)];
  }
}

async function failure(of: Promise<unknown>): Promise<RemoteError> {
  return of.then(
    () => expect.fail("It did not fail."),
    (error: unknown) => (error instanceof RemoteError ? error : expect.fail(String(error))),
  );
}

describe("a token of the client credentials flow", () => {
  it("is requested with the scopes that the agent requires and the secret in a header", async () => {
    const trial = new Trial({ [TOKEN]: issuing() }, PROGRAM);
    expect(await trial.call()).toBe("Bearer t1");
    const [seen] = trial.server.seen;
    expect(seen?.headers["authorization"]).toBe(`Basic ${btoa("me:s3cret%3Avalue")}`);
    expect(seen && form(seen)).toEqual({ grant_type: "client_credentials", scope: "read write" });
  });

  it("is requested with the caller's options", async () => {
    const trial = new Trial(
      { [TOKEN]: issuing() },
      {
        ...PROGRAM,
        authentication: "post",
        scopes: ["admin"],
        parameters: { audience: "agents" },
      },
    );
    await trial.call();
    const [seen] = trial.server.seen;
    expect(seen?.headers["authorization"]).toBeUndefined();
    expect(seen && form(seen)).toEqual({
      grant_type: "client_credentials",
      scope: "admin",
      audience: "agents",
      client_id: "me",
      client_secret: "s3cret:value",
    });
  });

  it("is shared by all calls until shortly before it expires, and requested once by concurrent calls", async () => {
    const trial = new Trial({ [TOKEN]: issuing({ expires_in: 100 }) }, PROGRAM);
    expect(await Promise.all([trial.call(), trial.call(), trial.call()])).toEqual([
      "Bearer t1",
      "Bearer t1",
      "Bearer t1",
    ]);
    trial.clock.adjust(trial.clock.now() + 69_999);
    expect(await trial.call()).toBe("Bearer t1");
    trial.clock.adjust(trial.clock.now() + 1);
    expect(await trial.call()).toBe("Bearer t2");
    expect(trial.server.asked).toHaveLength(2);
  });

  it("is replaced when the agent rejects it, once for all concurrent calls", async () => {
    const trial = new Trial({ [TOKEN]: issuing({}) }, PROGRAM);
    const signals = [1, 2, 3].map(() => new AbortController().signal);
    await Promise.all(signals.map((signal) => trial.call(signal)));
    const [first, ...others] = signals;
    expect(await trial.call(first, true)).toBe("Bearer t2");
    expect(await Promise.all(others.map((signal) => trial.call(signal, true)))).toEqual(["Bearer t2", "Bearer t2"]);
    expect(trial.server.asked).toHaveLength(2);
  });

  it("is not sent again if the server returns the same token", async () => {
    const trial = new Trial({ [TOKEN]: { access_token: "same", token_type: "Bearer" } }, PROGRAM);
    expect(await trial.twice()).toEqual(["Bearer same", false]);
  });

  it("is refreshed if there is a refresh token, and requested again if the refresh fails", async () => {
    const trial = new Trial(
      {
        [TOKEN]: (seen) => {
          const { grant_type: type, refresh_token: refresh } = form(seen);
          if (type === "client_credentials") return { access_token: "new", refresh_token: "r1" };
          return refresh === "r1" ? { access_token: "refreshed", refresh_token: "r2" } : refusing("invalid_grant");
        },
      },
      PROGRAM,
    );
    expect(await trial.twice()).toEqual(["Bearer new", "Bearer refreshed"]);
    expect(await trial.twice()).toEqual(["Bearer refreshed", "Bearer new"]);
    expect(trial.server.seen.map((seen) => form(seen)["grant_type"])).toEqual([
      "client_credentials",
      "refresh_token",
      "refresh_token",
      "client_credentials",
    ]);
  });

  it("is stored in the caller's token store", async () => {
    const tokens = new Map<string, Token>();
    const table = { [TOKEN]: issuing() };
    expect(await new Trial(table, { ...PROGRAM, tokens }).call()).toBe("Bearer t1");
    expect(await new Trial(table, { ...PROGRAM, tokens }).call()).toBe("Bearer t1");
    expect(await new Trial(table, { ...PROGRAM, tokens, clientId: "other" }).call()).toBe("Bearer t2");
    expect(await new Trial(table, { ...PROGRAM, tokens, scopes: ["x"] }).call()).toBe("Bearer t3");
    expect(tokens.size).toBe(3);
  });

  it.each<[string, Answer, RegExp]>([
    [
      "rejects the client",
      refusing("invalid_client", "No client with s3cret:value here", 401),
      /invalid_client, No client with … here/,
    ],
    ["answers with HTTP 500 and no JSON", new Response("<html>", { status: 500 }), /HTTP 500/],
    ["answers with an error and HTTP status 200", { error: "invalid_scope" }, /invalid_scope/],
    ["returns no token", { token_type: "bearer" }, /has no token/],
    [
      "returns an unsupported type of token",
      { access_token: "x", token_type: "DPoP" },
      /tokens of an unsupported type/,
    ],
    [
      "repeats secrets in its error",
      refusing(`me:s3cret%3Avalue`, "s3cret%3Avalue\nand s3cret:value"),
      /did not issue a token/,
    ],
    [
      "redirects to another host",
      new Response("", { status: 307, headers: { location: "https://evil.example/" } }),
      /redirects/,
    ],
  ])("cannot be obtained if the server %s", async (_what, answer, reason) => {
    const trial = new Trial({ [TOKEN]: answer }, PROGRAM);
    const error = await failure(trial.call());
    expect(error.message).toMatch(reason);
    expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/s3cret/);
    expect(trial.server.asked).toEqual([`POST ${TOKEN}`]);
    // The next call requests it again.
    await failure(trial.call());
    expect(trial.server.asked).toHaveLength(2);
  });

  it.each<[string, SecurityScheme, Partial<OAuthCredentials>, string]>([
    [
      "over unencrypted HTTP",
      { type: "oauth2", flows: { clientCredentials: { tokenUrl: "http://id.example/token", scopes: {} } } },
      {},
      "not encrypted",
    ],
    ["from a host that is not trusted", OAUTH, { hosts: ["other.example"] }, "id.example is not one of the hosts"],
    [
      "from an invalid URL",
      { type: "oauth2", flows: { clientCredentials: { tokenUrl: "nowhere", scopes: {} } } },
      {},
      "must be an http or https URL",
    ],
  ])("is not requested %s", async (...[, scheme, members, reason]) => {
    const trial = new Trial({}, { ...PROGRAM, ...members }, { scheme });
    expect((await failure(trial.call())).message).toContain(reason);
    expect(trial.server.asked).toEqual([]);
  });

  it("is requested over unencrypted HTTP if the caller allows it, or from this machine", async () => {
    for (const [tokenUrl, insecure] of [
      ["http://id.example/token", true],
      ["http://127.0.0.1:8080/token", false],
    ] as const) {
      expect(await new Trial({ [tokenUrl]: issuing() }, { ...PROGRAM, tokenUrl, insecure }).call()).toBe("Bearer t1");
    }
  });

  it("is requested from the caller's token URL, also for agents that only declare a bearer token", async () => {
    const own = "https://own.example/token";
    const scheme: SecurityScheme = { type: "http", scheme: "bearer" };
    expect(await new Trial({ [own]: issuing() }, { ...PROGRAM, tokenUrl: own }).call()).toBe("Bearer t1");
    expect(await new Trial({ [own]: issuing() }, { ...PROGRAM, tokenUrl: own }, { scheme }).call()).toBe("Bearer t1");
  });

  it.each<[string, SecurityScheme, OAuthCredentials]>([
    ["no token URL is known", { type: "oauth2", flows: {} }, PROGRAM],
    [
      "the card offers only deprecated flows",
      {
        type: "oauth2",
        flows: { password: { tokenUrl: TOKEN, scopes: {} }, implicit: { authorizationUrl: LOGIN, scopes: {} } },
      },
      PROGRAM,
    ],
    ["the client secret is missing", OAUTH, { clientId: "me" }],
    [
      "the caller wants a flow that the card does not offer",
      { type: "oauth2", flows: { clientCredentials: FLOWS.clientCredentials } },
      { ...PROGRAM, flow: "deviceCode" },
    ],
  ])("cannot be requested if %s", (_what, scheme, oauth2) => {
    expect(() => new Trial({}, oauth2, { scheme })).toThrow("do not satisfy");
    const more = { bearer: "at-hand" };
    expect(() => new Trial({}, oauth2, { scheme, more })).not.toThrow();
  });
});

describe("the metadata of an authorization server", () => {
  const described = { issuer: "https://id.example", token_endpoint: TOKEN };
  const OIDC: SecurityScheme = { type: "openIdConnect", openIdConnectUrl: DISCOVERY };

  it.each<[string, SecurityScheme, OAuthCredentials, string]>([
    ["through OpenID Connect discovery", OIDC, PROGRAM, DISCOVERY],
    [
      "at the metadata URL of the card",
      { type: "oauth2", flows: {}, oauth2MetadataUrl: "https://id.example/meta" },
      PROGRAM,
      "https://id.example/meta",
    ],
    ["at the caller's issuer", { type: "oauth2", flows: {} }, { ...PROGRAM, issuer: "https://id.example/" }, DISCOVERY],
  ])("is found %s and requested once", async (...[, scheme, oauth2, url]) => {
    const trial = new Trial({ [url]: described, [TOKEN]: issuing() }, oauth2, { scheme });
    expect(await trial.twice()).toEqual(["Bearer t1", "Bearer t2"]);
    expect(trial.server.asked).toEqual([`GET ${url}`, `POST ${TOKEN}`, `POST ${TOKEN}`]);
  });

  it("is found at the RFC 8414 URL of an issuer with a path", async () => {
    const url = "https://id.example/.well-known/oauth-authorization-server/tenant";
    const issuer = "https://id.example/tenant";
    const trial = new Trial({ [url]: { ...described, issuer }, [TOKEN]: issuing() }, { ...PROGRAM, issuer });
    expect(await trial.call()).toBe("Bearer t1");
    expect(trial.server.asked).toEqual([
      `GET ${issuer}/.well-known/openid-configuration`,
      `GET ${url}`,
      `POST ${TOKEN}`,
    ]);
  });

  it("determines how the client secret is sent", async () => {
    const answer = { ...described, token_endpoint_auth_methods_supported: ["client_secret_post", 5] };
    const trial = new Trial({ [DISCOVERY]: answer, [TOKEN]: issuing() }, PROGRAM, { scheme: OIDC });
    await trial.call();
    expect(form(trial.server.seen[1] ?? { body: "" })["client_secret"]).toBe("s3cret:value");
  });

  it.each<[string, Answer, string]>([
    [
      "of another authorization server",
      { ...described, issuer: "https://evil.example" },
      "another authorization server",
    ],
    ["without an issuer", { token_endpoint: TOKEN }, "another authorization server"],
    ["that does not exist", new Response("", { status: 404 }), "HTTP 404"],
    ["that is an HTML page", new Response("<html>"), "does not describe"],
    ["without the token endpoint", { issuer: "https://id.example" }, "endpoint is unknown"],
  ])("is rejected: a document %s", async (_what, answer, reason) => {
    const trial = new Trial({ [DISCOVERY]: answer }, PROGRAM, { scheme: OIDC });
    expect((await failure(trial.call())).message).toContain(reason);
  });
});

describe("a token of the device code flow", () => {
  const begun = {
    device_code: "dc-secret",
    user_code: "AB-CD",
    verification_uri: "https://id.example/enter",
    expires_in: 600,
    interval: 2,
  };

  function trialOf(answers: readonly Answer[]): { trial: Trial; prompts: DevicePrompt[] } {
    const prompts: DevicePrompt[] = [];
    const rest = [...answers];
    const next = (seen: Seen): ReturnType<Extract<Answer, (seen: Seen) => unknown>> => {
      const answer = rest.shift() ?? new Error("asked too often");
      return typeof answer === "function" ? answer(seen) : answer;
    };
    const credentials: OAuthCredentials = { clientId: "me", onDeviceCode: (prompt) => void prompts.push(prompt) };
    return { trial: new Trial({ [DEVICE]: begun, [TOKEN]: next }, credentials), prompts };
  }

  it("is polled at the server's interval until the user agrees", async () => {
    const { trial, prompts } = trialOf([
      refusing("authorization_pending"),
      refusing("slow_down"),
      new Error("ECONNRESET"),
      issuing(),
    ]);
    const called = trial.call();
    for (const [wait, asked] of [
      [0, 1],
      [2000, 2],
      [2000, 3],
      [7000, 4],
      [12_000, 5],
    ] as const) {
      await trial.clock.advance(wait);
      expect(trial.server.asked).toHaveLength(asked);
    }
    expect(await called).toBe("Bearer t1");
    expect(prompts).toEqual([
      { userCode: "AB-CD", verificationUri: "https://id.example/enter", expiresAt: expect.any(Number) },
    ]);
    expect(form(trial.server.seen[0] ?? { body: "" })).toEqual({ client_id: "me", scope: "read write" });
    expect(form(trial.server.seen[4] ?? { body: "" })).toEqual({
      client_id: "me",
      device_code: "dc-secret",
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    });
    expect(await trial.call()).toBe("Bearer t1");
  });

  it("fails when the user refuses, or when the code expires", async () => {
    const refused = trialOf([refusing("access_denied", "No.")]);
    const call = failure(refused.trial.call());
    await refused.trial.clock.advance(2000);
    expect((await call).message).toContain("access_denied, No.");

    const late = trialOf(Array.from({ length: 400 }, () => refusing("authorization_pending")));
    const waiting = failure(late.trial.call());
    await late.trial.clock.advance(600_000);
    expect((await waiting).message).toContain("The code expired");
  });

  it("can be requested before the first call; aborting the caller aborts the request", async () => {
    const { trial } = trialOf([issuing()]);
    const ready = trial.authorizer.prepare();
    await trial.clock.advance(2000);
    await ready;
    expect(await trial.call()).toBe("Bearer t1");

    const other = trialOf([]);
    const control = new AbortController();
    const waiting = other.trial.call(control.signal);
    await other.trial.clock.advance(0);
    control.abort(new RemoteError("timeout", "enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(other.trial.clock.pending).toBe(0);
  });
});

describe("a token of the authorization code flow", () => {
  function trialOf(
    comeBack: (url: URL) => string,
    table: Readonly<Record<string, Answer>> = { [TOKEN]: issuing() },
  ): { trial: Trial; opened: URL[] } {
    const opened: URL[] = [];
    const open = async (url: string): Promise<string> => {
      opened.push(new URL(url));
      return comeBack(new URL(url));
    };
    const credentials = { clientId: "me", authorizationCode: { redirectUri: "http://127.0.0.1:9/cb", open } };
    return { trial: new Trial(table, credentials), opened };
  }

  const agree = (url: URL): string => `http://127.0.0.1:9/cb?code=c0de-secret&state=${url.searchParams.get("state")}`;

  it("is requested with a PKCE proof", async () => {
    const { trial, opened } = trialOf(agree);
    expect(await trial.call()).toBe("Bearer t1");
    const parameters = Object.fromEntries(opened[0]?.searchParams ?? []);
    expect(parameters).toMatchObject({
      theme: "dark",
      response_type: "code",
      client_id: "me",
      redirect_uri: "http://127.0.0.1:9/cb",
      scope: "read write",
      code_challenge_method: "S256",
    });
    const sent = form(trial.server.seen[0] ?? { body: "" });
    expect(sent).toMatchObject({
      grant_type: "authorization_code",
      code: "c0de-secret",
      redirect_uri: "http://127.0.0.1:9/cb",
      client_id: "me",
    });
    const verifier = sent["code_verifier"] ?? "";
    expect(verifier).toMatch(/^[\w-]{43}$/);
    expect(createHash("sha256").update(verifier).digest("base64url")).toBe(parameters["code_challenge"]);
    expect(parameters["state"]).toMatch(/^[\w-]{43}$/);
  });

  it.each<[string, (url: URL) => string, string]>([
    ["returns with another state", () => "http://127.0.0.1:9/cb?code=x&state=guessed", "state of another login"],
    ["returns without parameters", () => "http://127.0.0.1:9/cb", "state of another login"],
    ["does not return", () => "", "state of another login"],
    [
      "returns with an error",
      (url) => `http://127.0.0.1:9/cb?error=access_denied&error_description=No&state=${url.searchParams.get("state")}`,
      "access_denied, No",
    ],
    [
      "returns without a code",
      (url) => `http://127.0.0.1:9/cb?state=${url.searchParams.get("state")}`,
      "without a code",
    ],
  ])("is not requested if the browser %s", async (_what, comeBack, reason) => {
    const { trial } = trialOf(comeBack);
    expect((await failure(trial.call())).message).toContain(reason);
    expect(trial.server.asked).toEqual([]);
  });

  it("is not requested if the browser returns from another issuer", async () => {
    const table = {
      [DISCOVERY]: { issuer: "https://id.example", token_endpoint: TOKEN, authorization_endpoint: LOGIN },
      [TOKEN]: issuing(),
    };
    const open = async (url: string): Promise<string> => `${agree(new URL(url))}&iss=https://evil.example`;
    const credentials = { clientId: "me", authorizationCode: { redirectUri: "http://127.0.0.1:9/cb", open } };
    const trial = new Trial(table, credentials, { scheme: { type: "openIdConnect", openIdConnectUrl: DISCOVERY } });
    expect((await failure(trial.call())).message).toContain("another authorization server");
  });

  it("fails without the authorization code in the error if the server rejects the code", async () => {
    const { trial } = trialOf(agree, { [TOKEN]: refusing("invalid_grant", "Bad code c0de-secret") });
    expect((await failure(trial.call())).message).toContain("invalid_grant, Bad code …");
  });
});
