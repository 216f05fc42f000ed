import { afterEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import { ExternalServiceError, ValidationError } from "../../wire/plain/named-errors.ts";
import { type Answer, served } from "../discovery/test/served.ts";
import { clearAgentCardCache, discoverAgent, fetchAgentCard } from "./fetch-agent-card.ts";

const BASE = "https://agent.example.com";
const AT = `${BASE}/.well-known/agent-card.json`;
const CARD = { name: "A", version: "1", extra: [1] };
const MINUTE = 60_000;

afterEach(clearAgentCardCache);

describe("Scenario: Agent card caching", () => {
  it("returns the cached card after 2 minutes, and fetches it again after 6", async () => {
    const clock = new FakeClock();
    const server = served({ [AT]: CARD });
    const get = (base: string): Promise<unknown> => fetchAgentCard(base, { fetch: server.fetch, clock });
    expect(await get(BASE)).toEqual(CARD);
    clock.adjust(clock.now() + 2 * MINUTE);
    expect(await get(`${BASE}/`)).toEqual(CARD);
    expect(server.asked).toEqual([`GET ${AT}`]);
    clock.adjust(clock.now() + 4 * MINUTE);
    await get(BASE);
    expect(server.asked).toHaveLength(2);
  });

  it.each([
    [5 * MINUTE - 1, 1],
    [5 * MINUTE, 2],
  ])(
    "caches a card for exactly 5 minutes, ignoring cache headers: after %i ms there were %i requests",
    async (pass, asked) => {
      const clock = new FakeClock();
      const server = served({ [AT]: Response.json(CARD, { headers: { "cache-control": "no-store", age: "400" } }) });
      await fetchAgentCard(BASE, { fetch: server.fetch, clock });
      clock.adjust(clock.now() + pass);
      await fetchAgentCard(BASE, { fetch: server.fetch, clock });
      expect(server.asked).toHaveLength(asked);
    },
  );

  it("can be cleared, and does not cache failures", async () => {
    const clock = new FakeClock();
    let fails = true;
    const server = served({ [AT]: () => (fails ? new Response("", { status: 500 }) : CARD) });
    const options = { fetch: server.fetch, clock };
    expect(await discoverAgent(BASE, options)).toBeNull();
    fails = false;
    expect(await discoverAgent(BASE, options)).toEqual(CARD);
    clearAgentCardCache();
    await fetchAgentCard(BASE, options);
    expect(server.asked).toHaveLength(3);
  });
});

describe("a card that cannot be fetched", () => {
  it.each<[string, Answer, object]>([
    [
      "because of HTTP 404",
      new Response("", { status: 404 }),
      { name: "ExternalServiceError", status: 404, message: expect.stringContaining("HTTP 404") },
    ],
    ["because of HTTP 503", new Response("", { status: 503 }), { name: "ExternalServiceError", status: 503 }],
    ["because the connection fails", new Error("ECONNREFUSED"), { name: "ExternalServiceError", status: undefined }],
    [
      "because it has no name",
      { version: "1" },
      { name: "ValidationError", violations: [{ field: "name", description: "is required" }] },
    ],
    [
      "because it has no version",
      { name: "A", version: "" },
      { name: "ValidationError", violations: [{ field: "version", description: "is required" }] },
    ],
    ["because it has neither", {}, { name: "ValidationError", message: expect.stringMatching(/name.*version/) }],
    [
      "because it is not JSON",
      new Response("<html>"),
      { name: "ValidationError", violations: [{ field: "card", description: expect.any(String) }] },
    ],
  ])("throws %s, or is null for callers that do not want errors", async (_what, answer, expected) => {
    const server = served({ [AT]: answer });
    const error = await fetchAgentCard(BASE, { fetch: server.fetch }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(expected);
    expect(error instanceof ExternalServiceError || error instanceof ValidationError).toBe(true);
    expect(await discoverAgent(BASE, { fetch: server.fetch })).toBeNull();
    // The path of early versions is not requested.
    expect(server.asked).toEqual([`GET ${AT}`, `GET ${AT}`]);
  });

  it("throws if the URL is invalid", async () => {
    await expect(fetchAgentCard("nonsense")).rejects.toBeInstanceOf(ValidationError);
    expect(await discoverAgent("nonsense")).toBeNull();
  });
});
