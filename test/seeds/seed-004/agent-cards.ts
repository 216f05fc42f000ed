import {
  clearAgentCardCache,
  discoverAgent,
  ExternalServiceError,
  fetchAgentCard,
  ValidationError,
} from "palaver/client";
import { afterEach, expect, it } from "vitest";
import { FakeClock } from "../../../src/testing/fake-clock.ts";
import { SERVERS } from "../../remote-peers/servers.ts";
import { get } from "../exchange.ts";
import { serveScript } from "../test-server.ts";
import { listenIn, serveCard } from "./invoking.ts";
import { seed } from "./seed.ts";

const CARD = "GET /.well-known/agent-card.json";
const MINUTE = 60_000;

afterEach(clearAgentCardCache);

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(() => undefined).catch((error: unknown) => error);

it(
  seed.example("Exported Functions › fetchAgentCard", "returns the card of this server and of official servers"),
  async () => {
    await using testServer = await serveScript(async () => "done");
    const served = await get(`${testServer.url}/.well-known/agent-card.json`, { "a2a-version": "1.0" });
    expect(await fetchAgentCard(testServer.url)).toEqual(served.json);
    // The 0.2 server has its card only at the older address.
    for (const line of SERVERS.filter(({ protocol }) => protocol !== "0.2")) {
      const official = await line.start({ binding: "JSONRPC" });
      try {
        const { json } = await get(`${official.url}/.well-known/agent-card.json`);
        expect(await fetchAgentCard(`${official.url}/`), line.protocol).toEqual(json);
        expect(json).toMatchObject({ name: "Peer", version: "1.0.0" });
      } finally {
        await official.close();
      }
    }
  },
);

it(seed.example("Exported Functions › discoverAgent", "returns the card, or null if there is none"), async () => {
  await using testServer = await serveScript(async () => "done");
  expect(await discoverAgent(testServer.url)).toEqual(await fetchAgentCard(testServer.url));
  expect(await discoverAgent(`${testServer.url}/nobody`)).toBeNull();
});

it(
  seed.example("Exported Functions › clearAgentCardCache", "cached cards of all agents are fetched again"),
  async () => {
    await using testServer = await serveScript(async () => "done", { id: "one" });
    const { fetch, asked } = listenIn();
    const both = async () => {
      for (const url of [testServer.url, testServer.of("one")]) await fetchAgentCard(url, { fetch });
    };
    await both();
    await both();
    expect(asked).toHaveLength(2);
    clearAgentCardCache();
    await both();
    expect(asked).toHaveLength(4);
  },
);

it(
  seed.example("Invariants › 8 card cache", "a card is cached for exactly 5 minutes; each address has its own entry"),
  async () => {
    await using testServer = await serveScript(async () => "done", { id: "one" });
    const { fetch, asked } = listenIn();
    const clock = new FakeClock();
    const began = clock.now();
    const askedAfter = async (milliseconds: number, url: string) => {
      clock.adjust(began + milliseconds);
      await fetchAgentCard(url, { fetch, clock });
      return asked.length;
    };
    expect(await askedAfter(0, testServer.url)).toBe(1);
    expect(await askedAfter(2 * MINUTE, testServer.of("one"))).toBe(2);
    expect(await askedAfter(5 * MINUTE - 1, testServer.url)).toBe(2);
    expect(await askedAfter(5 * MINUTE, testServer.url)).toBe(3);
    expect(await askedAfter(7 * MINUTE - 1, testServer.of("one"))).toBe(3);
    expect(await askedAfter(7 * MINUTE, testServer.of("one"))).toBe(4);
  },
);

it(
  seed.example(
    "Scenario: Agent card caching",
    "after 2 minutes the cached card without a request; after 6 minutes a new request",
  ),
  async () => {
    let name = "Before";
    const clock = new FakeClock();
    const { fetch, asked } = listenIn();
    const card = async (url: string) => (await fetchAgentCard(url, { fetch, clock })).name;
    await using testServer = await serveScript(async () => "done");
    await using changing = await serveCard({
      version: "1",
      get name() {
        return name;
      },
    });
    expect([await card(testServer.url), await card(changing.url)]).toEqual(["Scripted", "Before"]);
    name = "After";
    clock.adjust(clock.now() + 2 * MINUTE);
    expect([await card(testServer.url), await card(changing.url)]).toEqual(["Scripted", "Before"]);
    expect(asked).toEqual([CARD, CARD]);
    clock.adjust(clock.now() + 4 * MINUTE);
    expect([await card(testServer.url), await card(changing.url)]).toEqual(["Scripted", "After"]);
    expect(asked).toEqual([CARD, CARD, CARD, CARD]);
  },
);

it(seed.example("Invariants › 9 card validation", "a card needs a name and a version, and nothing else"), async () => {
  for (const card of [
    { version: "1" },
    { name: "A" },
    { name: "", version: "1" },
    { name: 1, version: {} },
    [],
    "<html>",
  ]) {
    await using server = await serveCard(card);
    expect(await thrownBy(fetchAgentCard(server.url)), JSON.stringify(card)).toBeInstanceOf(ValidationError);
  }
  await using bare = await serveCard({ name: "A", version: "1" });
  expect(await fetchAgentCard(bare.url)).toEqual({ name: "A", version: "1" });
});

it(
  seed.example("Error Cases › card fetch fails", "the error contains the HTTP status; failures are not cached"),
  async () => {
    for (const status of [404, 500, 503]) {
      await using server = await serveCard({ name: "A", version: "1" }, status);
      const { fetch, asked } = listenIn();
      for (const _ of [1, 2]) {
        const error = await thrownBy(fetchAgentCard(server.url, { fetch }));
        expect(error).toBeInstanceOf(ExternalServiceError);
        expect(error).toMatchObject({
          name: "ExternalServiceError",
          status,
          message: expect.stringContaining(`HTTP ${status}`),
        });
      }
      expect(asked).toEqual([CARD, CARD]);
    }
  },
);

it(seed.example("Error Cases › card missing name or version", "the error names each missing field"), async () => {
  for (const [card, fields] of [
    [{ version: "1" }, ["name"]],
    [{ name: "A" }, ["version"]],
    [{}, ["name", "version"]],
  ] as const) {
    await using server = await serveCard(card);
    expect(await thrownBy(fetchAgentCard(server.url))).toMatchObject({
      name: "ValidationError",
      violations: fields.map((field) => ({ field, description: expect.any(String) })),
    });
  }
});

it(
  seed.example(
    "Error Cases › discovery fails",
    "returns null if nothing listens, if there is no card, or if the card is invalid",
  ),
  async () => {
    const gone = await serveCard({ name: "A", version: "1" });
    await gone[Symbol.asyncDispose]();
    await using broken = await serveCard({ name: "A", version: "1" }, 500);
    await using nameless = await serveCard({ version: "1" });
    await using garbled = await serveCard("<html>");
    for (const url of [gone.url, broken.url, nameless.url, garbled.url, "no address"]) {
      expect(await discoverAgent(url), url).toBeNull();
      expect(await thrownBy(fetchAgentCard(url)), url).toBeInstanceOf(Error);
    }
  },
);
