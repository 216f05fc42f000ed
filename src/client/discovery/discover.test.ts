import { exportJWK, FlattenedSign, generateKeyPair } from "jose";
import { describe, expect, it, vi } from "vitest";
import { canonicalJson } from "../../auth/canonical-json.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { CARD_VERSION } from "../../wire/card/client-cards.ts";
import { createCardCache } from "./card-cache.ts";
import { type DiscoverOptions, discover } from "./discover.ts";
import { type Answer, served } from "./test/served.ts";

const CARD = "/.well-known/agent-card.json";
const EARLY = "/.well-known/agent.json";

function cardAt(...urls: readonly string[]): Record<string, unknown> {
  return {
    name: "A",
    description: "B",
    version: "1",
    capabilities: {},
    skills: [],
    supportedInterfaces: urls.map((url) => ({ url, protocolBinding: "JSONRPC", protocolVersion: CARD_VERSION })),
  };
}

function gone(status: number, headers: Record<string, string> = {}): Response {
  return new Response("<html>", { status, headers });
}

async function failure(of: Promise<unknown>): Promise<Error> {
  return of.then(
    () => expect.fail("It did not fail."),
    (error: Error) => error,
  );
}

describe("the search for a card", () => {
  it.each<[string, string, Readonly<Record<string, Answer>>, string, number]>([
    ["at a base URL", "https://a.example", { [`https://a.example${CARD}`]: cardAt("https://a.example/") }, CARD, 1],
    [
      "at a base URL with a slash",
      "https://a.example/",
      { [`https://a.example${CARD}`]: cardAt("https://a.example/") },
      CARD,
      1,
    ],
    [
      "at the path of early versions",
      "https://a.example",
      { [`https://a.example${EARLY}`]: cardAt("https://a.example/") },
      EARLY,
      2,
    ],
    [
      "below a path",
      "https://a.example/agents/x/?q#f",
      { [`https://a.example/agents/x${CARD}`]: cardAt("https://a.example/agents/x/") },
      `/agents/x${CARD}`,
      1,
    ],
    [
      "at the card's own URL",
      "https://a.example/b/card.json?v=1",
      { "https://a.example/b/card.json?v=1": cardAt("/x") },
      "/b/card.json?v=1",
      1,
    ],
    ["at a well-known URL", `https://a.example${EARLY}`, { [`https://a.example${EARLY}`]: cardAt("/x") }, EARLY, 1],
    [
      "for an endpoint whose card is at the origin",
      "https://a.example/api/rpc",
      { [`https://a.example${CARD}`]: cardAt("https://internal:8080/api/rpc/") },
      CARD,
      5,
    ],
    [
      "for an endpoint whose card is one level above",
      "https://a.example/agents/x/a2a",
      {
        [`https://a.example/agents/x${CARD}`]: cardAt("https://a.example/agents/x/a2a"),
        [`https://a.example${CARD}`]: cardAt("https://a.example/"),
      },
      `/agents/x${CARD}`,
      3,
    ],
    [
      "at a custom URL",
      "https://a.example/cards/7",
      { "https://a.example/cards/7": cardAt("https://b.example/") },
      "/cards/7",
      7,
    ],
    [
      "on a server that answers every path with a page",
      "https://a.example",
      { [`https://a.example${CARD}`]: gone(200), [`https://a.example${EARLY}`]: cardAt("/") },
      EARLY,
      2,
    ],
    [
      "on a server that answers 405",
      "https://a.example",
      { [`https://a.example${CARD}`]: gone(405), [`https://a.example${EARLY}`]: cardAt("/") },
      EARLY,
      2,
    ],
  ])("%s", async (...[, url, table, path, asked]) => {
    const server = served(table);
    const found = await discover(url, { fetch: server.fetch });
    expect(found).toMatchObject({ card: { name: "A" }, url: `https://a.example${path}`, warnings: [] });
    expect(server.asked).toHaveLength(asked);
  });

  it("requests JSON and the newest version, with the caller's headers", async () => {
    const server = served({ [`https://a.example${CARD}`]: cardAt("https://a.example/") });
    await discover(new URL("https://a.example"), { fetch: server.fetch, headers: { "X-Key": "k" } });
    expect(server.seen[0]?.headers).toMatchObject({ "a2a-version": CARD_VERSION, "x-key": "k" });
    expect(server.seen[0]?.headers["accept"]).toContain("application/json");
  });

  it("rejects the origin's card for a path that this card does not list", async () => {
    const server = served({ [`https://a.example${CARD}`]: cardAt("https://a.example/", "https://a.example/agents/x") });
    const error = await failure(discover("https://a.example/agents/unknown", { fetch: server.fetch }));
    expect(error).toMatchObject({ code: "card-not-found" });
    expect(error.message).toBe(
      `No agent card was found for https://a.example/agents/unknown: HTTP 404 at /agents/unknown${CARD} and 5 more; ` +
        `the card of another agent (https://a.example/ and 1 more) at ${CARD}.`,
    );
  });

  it("fails with the URLs that were tried", async () => {
    const error = await failure(discover("https://a.example/?key=secret", { fetch: served({}).fetch }));
    expect(error).toMatchObject({ name: "RemoteError", code: "card-not-found" });
    expect(error.message).toContain(`HTTP 404 at ${CARD} and 2 more.`);
    expect(error.message).not.toContain("secret");
  });

  it.each(["nonsense", "/path", "ftp://a.example", "https://u:p@a.example"])(
    "rejects %s without a request",
    async (url) => {
      const server = served({});
      expect(await failure(discover(url, { fetch: server.fetch }))).toMatchObject({ code: "card-not-found" });
      expect(server.asked).toEqual([]);
    },
  );
});

describe("a failed discovery", () => {
  const at = `https://a.example${CARD}`;

  it.each<[string, Answer, object]>([
    [
      "without credentials is `unauthenticated`",
      gone(401, { "www-authenticate": "Bearer" }),
      { code: "unauthenticated", remote: { httpStatus: 401, authenticate: "Bearer" } },
    ],
    ["without permission is `permission-denied`", gone(403), { code: "permission-denied" }],
    ["at a broken server is `internal`", gone(500), { code: "internal", remote: { httpStatus: 500 } }],
    [
      "at a busy server contains Retry-After",
      gone(503, { "retry-after": "7" }),
      { code: "unavailable", remote: { retryAfter: 7 } },
    ],
    ["at an unreachable server is `network`", new Error("ECONNREFUSED"), { code: "network" }],
    [
      "with an invalid card lists the violations",
      { name: 1 },
      { code: "invalid-card", violations: [{ field: "name" }] },
    ],
    [
      "with an empty card lists the violations",
      {},
      { code: "invalid-card", violations: [{ field: "name" }, { field: "supportedInterfaces" }] },
    ],
    [
      "with a too long body is `response-too-large`",
      new Response("x".repeat(2 * 1024 * 1024)),
      { code: "response-too-large" },
    ],
    [
      "with a too large Content-Length is `response-too-large`",
      new Response("", { headers: { "content-length": "99999999" } }),
      { code: "response-too-large" },
    ],
  ])("%s", async (_what, answer, expected) => {
    const server = served({ [at]: answer });
    const error = await failure(discover("https://a.example", { fetch: server.fetch }));
    expect(error).toMatchObject({ name: "RemoteError", ...expected });
    expect(server.asked).toHaveLength(1);
  });

  it("after the timeout is `timeout`, and after an abort is `aborted`", async () => {
    const clock = new FakeClock();
    const never = (): Promise<Response> => new Promise(() => {});
    const options: DiscoverOptions = { fetch: served({ [at]: never }).fetch, clock, timeout: 1000, cache: false };
    const late = failure(discover("https://a.example", options));
    await clock.advance(1000);
    expect(await late).toMatchObject({ code: "timeout" });
    const control = new AbortController();
    const given = failure(discover("https://a.example", { ...options, signal: control.signal }));
    control.abort();
    expect(await given).toMatchObject({ code: "aborted" });
    expect(clock.pending).toBe(0);
  });
});

describe("a card that requires credentials", () => {
  const at = `https://a.example${CARD}`;
  const table = {
    [at]: ({ headers }: { readonly headers: Readonly<Record<string, string>> }): Response =>
      headers["authorization"] === "Bearer me" ? Response.json(cardAt("https://a.example/")) : gone(401),
  };

  it("is requested again with credentials after a 401", async () => {
    const server = served(table);
    const received: unknown[] = [];
    const found = await discover("https://a.example", {
      fetch: server.fetch,
      authorize: ({ headers }, { operation, challenge }) => {
        received.push(operation, challenge?.status);
        headers.set("authorization", "Bearer me");
      },
    });
    expect(found.card.name).toBe("A");
    expect(received).toEqual(["card", 401]);
    expect(server.seen.map(({ headers }) => headers["authorization"])).toEqual([undefined, "Bearer me"]);
  });

  it("is `unauthenticated` without credentials or with insufficient ones", async () => {
    for (const authorize of [() => false, () => {}]) {
      const options = { fetch: served(table).fetch, authorize };
      expect(await failure(discover("https://a.example", options))).toMatchObject({ code: "unauthenticated" });
    }
  });
});

describe("a cached card", () => {
  const at = `https://a.example${CARD}`;

  it("is requested once per `fetch`, unless the caller revalidates or disables the cache", async () => {
    const server = served({ [at]: () => Response.json(cardAt("https://a.example/"), { headers: { etag: '"1"' } }) });
    const found = await Promise.all([1, 2, 3].map(() => discover("https://a.example", { fetch: server.fetch })));
    expect(found.map(({ card }) => card.name)).toEqual(["A", "A", "A"]);
    await discover("https://a.example", { fetch: server.fetch });
    expect(server.asked).toHaveLength(1);
    await discover("https://a.example", { fetch: server.fetch, revalidate: true });
    expect(server.seen[1]?.headers["if-none-match"]).toBe('"1"');
    await discover("https://a.example", { fetch: server.fetch, cache: false });
    expect(server.asked).toHaveLength(3);
    await discover("https://a.example", { fetch: served({ [at]: cardAt("https://a.example/") }).fetch });
    expect(server.asked).toHaveLength(3);
  });

  it("lives as long as its cache allows", async () => {
    const clock = new FakeClock();
    const cache = createCardCache({ clock });
    const server = served({ [at]: cardAt("https://a.example/") });
    for (const pass of [0, 299_999, 1]) {
      clock.adjust(clock.now() + pass);
      await discover("https://a.example", { fetch: server.fetch, cache, clock });
    }
    expect(server.asked).toHaveLength(2);
  });
});

describe("redirects", () => {
  const to = (location: string): Response => new Response("", { status: 302, headers: { location } });

  it("are followed, and relative URLs in the card are resolved against the final URL", async () => {
    const server = served({
      [`https://a.example${CARD}`]: to("https://b.example/x/card"),
      "https://b.example/x/card": cardAt("rpc"),
    });
    const found = await discover("https://a.example", { fetch: server.fetch });
    expect(found.url).toBe("https://b.example/x/card");
    expect(found.card.interfaces[0]?.url).toBe("https://b.example/x/rpc");
  });

  it("to private addresses are refused with a guard", async () => {
    const server = served({ [`https://a.example${CARD}`]: to("https://169.254.169.254/latest") });
    const error = await failure(discover("https://a.example", { fetch: server.fetch, guard: "public" }));
    expect(error).toMatchObject({ code: "blocked-url" });
    expect(server.asked).toEqual([`GET https://a.example${CARD}`]);
  });

  it("to private addresses are refused with a guard, also if a caller without a guard filled the cache", async () => {
    const { fetch } = served({
      [`https://a.example${CARD}`]: to("https://10.0.0.1/"),
      "https://10.0.0.1/": cardAt("/"),
    });
    await discover("https://a.example", { fetch });
    expect(await failure(discover("https://a.example", { fetch, guard: "public" }))).toMatchObject({
      code: "blocked-url",
    });
  });
});

describe("a card that the caller passes", () => {
  it("is parsed without a request", async () => {
    const server = served({});
    const found = await discover(cardAt("https://a.example/"), { fetch: server.fetch });
    expect(found).toEqual({ card: expect.objectContaining({ name: "A" }), json: expect.anything(), warnings: [] });
    expect(await failure(discover({ name: "A" }))).toMatchObject({ code: "invalid-card" });
    expect(await failure(discover([]))).toMatchObject({ code: "invalid-card" });
    expect(server.asked).toEqual([]);
  });
});

describe("a card that must be signed", () => {
  it("contains only the fields that the signature covers", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const verify = { jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: "k" }] } };
    const card = { ...cardAt("https://a.example/"), defaultInputModes: ["a"], defaultOutputModes: ["b"] };
    const { payload: _payload, ...signature } = await new FlattenedSign(new TextEncoder().encode(canonicalJson(card)))
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .sign(privateKey);
    const given = { ...card, url: "https://evil.example/", protocolVersion: "0.3.0", signatures: [signature] };
    const { fetch } = served({ [`https://a.example${CARD}`]: given });
    for (const from of ["https://a.example", given]) {
      const found = await discover(from, { fetch, verify });
      expect(found.card.interfaces.map(({ url }) => url)).toEqual(["https://a.example/"]);
    }
    const forged = { ...given, name: "Forged" };
    expect(await failure(discover(forged, { verify }))).toMatchObject({ code: "invalid-signature" });
  });
});

describe("a card in a browser", () => {
  it("is requested without custom headers if CORS forbids them", async () => {
    const server = served({
      [`https://a.example${CARD}`]: ({ headers }) =>
        headers["a2a-version"] === undefined ? cardAt("https://a.example/") : new Error("CORS"),
    });
    const options = { fetch: server.fetch, cache: false } as const;
    expect(await failure(discover("https://a.example", options))).toMatchObject({ code: "network" });
    vi.stubGlobal("location", {});
    try {
      expect(await discover("https://a.example", options)).toMatchObject({ card: { name: "A" } });
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
