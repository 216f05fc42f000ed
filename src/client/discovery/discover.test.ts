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

describe("where a card is looked for", () => {
  it.each<[string, string, Readonly<Record<string, Answer>>, string, number]>([
    ["a base", "https://a.example", { [`https://a.example${CARD}`]: cardAt("https://a.example/") }, CARD, 1],
    [
      "a base with a slash",
      "https://a.example/",
      { [`https://a.example${CARD}`]: cardAt("https://a.example/") },
      CARD,
      1,
    ],
    ["an early agent", "https://a.example", { [`https://a.example${EARLY}`]: cardAt("https://a.example/") }, EARLY, 2],
    [
      "an agent below a path",
      "https://a.example/agents/x/?q#f",
      { [`https://a.example/agents/x${CARD}`]: cardAt("https://a.example/agents/x/") },
      `/agents/x${CARD}`,
      1,
    ],
    [
      "the card's own address",
      "https://a.example/b/card.json?v=1",
      { "https://a.example/b/card.json?v=1": cardAt("/x") },
      "/b/card.json?v=1",
      1,
    ],
    ["a well-known address", `https://a.example${EARLY}`, { [`https://a.example${EARLY}`]: cardAt("/x") }, EARLY, 1],
    [
      "an endpoint, whose card is at the origin",
      "https://a.example/api/rpc",
      { [`https://a.example${CARD}`]: cardAt("https://internal:8080/api/rpc/") },
      CARD,
      5,
    ],
    [
      "an endpoint, whose card is a level above",
      "https://a.example/agents/x/a2a",
      {
        [`https://a.example/agents/x${CARD}`]: cardAt("https://a.example/agents/x/a2a"),
        [`https://a.example${CARD}`]: cardAt("https://a.example/"),
      },
      `/agents/x${CARD}`,
      3,
    ],
    [
      "an address of its own making",
      "https://a.example/cards/7",
      { "https://a.example/cards/7": cardAt("https://b.example/") },
      "/cards/7",
      7,
    ],
    [
      "a server with a page for everything",
      "https://a.example",
      { [`https://a.example${CARD}`]: gone(200), [`https://a.example${EARLY}`]: cardAt("/") },
      EARLY,
      2,
    ],
    [
      "a server without that method",
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

  it("asks for the newest version, as JSON, with the headers that it is given", async () => {
    const server = served({ [`https://a.example${CARD}`]: cardAt("https://a.example/") });
    await discover(new URL("https://a.example"), { fetch: server.fetch, headers: { "X-Key": "k" } });
    expect(server.seen[0]?.headers).toMatchObject({ "a2a-version": CARD_VERSION, "x-key": "k" });
    expect(server.seen[0]?.headers["accept"]).toContain("application/json");
  });

  it("does not take the card at the origin for that of every path", async () => {
    const server = served({ [`https://a.example${CARD}`]: cardAt("https://a.example/", "https://a.example/agents/x") });
    const error = await failure(discover("https://a.example/agents/unknown", { fetch: server.fetch }));
    expect(error).toMatchObject({ code: "card-not-found" });
    expect(error.message).toBe(
      `No agent card was found for https://a.example/agents/unknown: HTTP 404 at /agents/unknown${CARD} and 5 more; ` +
        `the card of another agent (https://a.example/ and 1 more) at ${CARD}.`,
    );
  });

  it("says what it tried where there is none", async () => {
    const error = await failure(discover("https://a.example/?key=secret", { fetch: served({}).fetch }));
    expect(error).toMatchObject({ name: "RemoteError", code: "card-not-found" });
    expect(error.message).toContain(`HTTP 404 at ${CARD} and 2 more.`);
    expect(error.message).not.toContain("secret");
  });

  it.each(["nonsense", "/path", "ftp://a.example", "https://u:p@a.example"])("does not ask at %s", async (url) => {
    const server = served({});
    expect(await failure(discover(url, { fetch: server.fetch }))).toMatchObject({ code: "card-not-found" });
    expect(server.asked).toEqual([]);
  });
});

describe("a card that cannot be had", () => {
  const at = `https://a.example${CARD}`;

  it.each<[string, Answer, object]>([
    [
      "for want of credentials",
      gone(401, { "www-authenticate": "Bearer" }),
      { code: "unauthenticated", remote: { httpStatus: 401, authenticate: "Bearer" } },
    ],
    ["for want of permission", gone(403), { code: "permission-denied" }],
    ["because the server is broken", gone(500), { code: "internal", remote: { httpStatus: 500 } }],
    [
      "because the server is busy",
      gone(503, { "retry-after": "7" }),
      { code: "unavailable", remote: { retryAfter: 7 } },
    ],
    ["because nobody is there", new Error("ECONNREFUSED"), { code: "network" }],
    ["because it is wrong", { name: 1 }, { code: "invalid-card", violations: [{ field: "name" }] }],
    [
      "because it is empty",
      {},
      { code: "invalid-card", violations: [{ field: "name" }, { field: "supportedInterfaces" }] },
    ],
    ["because it is too long", new Response("x".repeat(2 * 1024 * 1024)), { code: "response-too-large" }],
    [
      "because it is said to be too long",
      new Response("", { headers: { "content-length": "99999999" } }),
      { code: "response-too-large" },
    ],
  ])("%s", async (_what, answer, expected) => {
    const server = served({ [at]: answer });
    const error = await failure(discover("https://a.example", { fetch: server.fetch }));
    expect(error).toMatchObject({ name: "RemoteError", ...expected });
    expect(server.asked).toHaveLength(1);
  });

  it("because it takes too long, or the caller gives up", async () => {
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

describe("a card that is only shown to some", () => {
  const at = `https://a.example${CARD}`;
  const table = {
    [at]: ({ headers }: { readonly headers: Readonly<Record<string, string>> }): Response =>
      headers["authorization"] === "Bearer me" ? Response.json(cardAt("https://a.example/")) : gone(401),
  };

  it("is asked for again with credentials, after a refusal", async () => {
    const server = served(table);
    const told: unknown[] = [];
    const found = await discover("https://a.example", {
      fetch: server.fetch,
      authorize: ({ headers }, { operation, challenge }) => {
        told.push(operation, challenge?.status);
        headers.set("authorization", "Bearer me");
      },
    });
    expect(found.card.name).toBe("A");
    expect(told).toEqual(["card", 401]);
    expect(server.seen.map(({ headers }) => headers["authorization"])).toEqual([undefined, "Bearer me"]);
  });

  it("cannot be had where there is nothing to show, or that is not enough", async () => {
    for (const authorize of [() => false, () => {}]) {
      const options = { fetch: served(table).fetch, authorize };
      expect(await failure(discover("https://a.example", options))).toMatchObject({ code: "unauthenticated" });
    }
  });
});

describe("a card that is kept", () => {
  const at = `https://a.example${CARD}`;

  it("is asked for once by all who use the same fetch, unless they want to be sure", async () => {
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

  it("lives as long as its cache says", async () => {
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

describe("redirections", () => {
  const to = (location: string): Response => new Response("", { status: 302, headers: { location } });

  it("are followed, and addresses in the card start at where it was found", async () => {
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

  it("to private addresses are refused with a guard, also where somebody else followed them", async () => {
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

describe("a card that is at hand", () => {
  it("is read without asking anybody", async () => {
    const server = served({});
    const found = await discover(cardAt("https://a.example/"), { fetch: server.fetch });
    expect(found).toEqual({ card: expect.objectContaining({ name: "A" }), json: expect.anything(), warnings: [] });
    expect(await failure(discover({ name: "A" }))).toMatchObject({ code: "invalid-card" });
    expect(await failure(discover([]))).toMatchObject({ code: "invalid-card" });
    expect(server.asked).toEqual([]);
  });
});

describe("a card that must be signed", () => {
  it("is read only as far as it is signed", async () => {
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

describe("in a browser", () => {
  it("is asked for without own headers where permission to send them is refused", async () => {
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
