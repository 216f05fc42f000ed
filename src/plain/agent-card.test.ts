import { describe, expect, it, vi } from "vitest";
import { agent } from "../engine/agent/agent.ts";
import { PLAIN_BINDING } from "../wire/plain/binding.ts";
import { buildAgentCard, buildAgentCardForAgent } from "./agent-card.ts";
import { NotFoundError } from "./errors.ts";
import { handleTaskSend } from "./task-handler.ts";
import { serving } from "./test/serving.ts";

const run = async (): Promise<string> => "done";
const planner = agent({
  name: "Planner",
  description: "Plans trips.",
  version: "1.2.0",
  skills: [{ id: "plan", name: "Plan a trip", description: "From here to there.", tags: ["travel"] }],
  run,
});
const clerk = agent({ name: "Clerk", description: "Files things.", version: "2.0.0", defaultProjectId: "p", run });

/** All URLs in a card. */
function addressesOf(card: object): readonly string[] {
  return Array.from(JSON.stringify(card).matchAll(/"url":"([^"]*)"/g), ([, url = ""]) => url);
}

describe("buildAgentCard", () => {
  it("returns the card of the agent at the root, as the server serves it", async () => {
    await using server = serving([planner, clerk]);
    const card = await buildAgentCard(undefined, { server });
    const served = await server.fetch(new Request("https://x/.well-known/agent-card.json"));
    expect(card).toEqual(await served.json());
    expect(card).toMatchObject({ name: "Planner", version: "1.2.0", skills: [{ id: "plan", name: "Plan a trip" }] });
    expect(card.supportedInterfaces).toContainEqual({
      url: "https://agents.example",
      protocolBinding: PLAIN_BINDING,
      protocolVersion: "1.0",
    });
  });

  it("replaces the base of all URLs in the card", async () => {
    await using server = serving(planner);
    const own = await buildAgentCard(undefined, { server });
    const card = await buildAgentCard("https://elsewhere.example/a2a/", { server });
    expect(addressesOf(card)).toEqual(
      addressesOf(own).map((url) => url.replace("https://agents.example", "https://elsewhere.example/a2a")),
    );
    expect({ ...card, url: 0, additionalInterfaces: 0, supportedInterfaces: 0 }).toEqual({
      ...own,
      url: 0,
      additionalInterfaces: 0,
      supportedInterfaces: 0,
    });
  });

  it.each([
    ["without the plain dialect", { versions: ["1.0", "0.3"] }],
    ["with only the newest version", { versions: ["1.0"] }],
    ["with only an older version", { versions: ["0.3"] }],
    ["with the oldest versions", { versions: ["0.2", "0.1"] }],
    ["with the oldest version and the plain dialect", { versions: ["0.1", "plain"] }],
    ["with strict cards", { card: "strict" }],
  ] as const)("replaces the base of all URLs in the card of a server %s", async (_what, options) => {
    await using server = serving(planner, { ...options, publicUrl: "https://agents.example/base/a2a" });
    const addresses = addressesOf(await buildAgentCard("https://elsewhere.example", { server }));
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(address).toMatch(/^https:\/\/elsewhere\.example(\/|\/a2a)?$/);
  });

  it("uses the server that was passed last if none is passed", async () => {
    vi.resetModules();
    const fresh = await import("../plain.ts");
    await expect(fresh.buildAgentCard()).rejects.toThrow("Pass one");
    await using one = serving(planner);
    await using two = serving(clerk);
    await handleTaskSend({ server: one, agentId: planner.id }, { message: "Hello" });
    expect(await buildAgentCard()).toMatchObject({ name: "Planner" });
    await buildAgentCard(undefined, { server: two });
    expect(await buildAgentCard()).toMatchObject({ name: "Clerk" });
  });
});

describe("buildAgentCardForAgent", () => {
  it("returns the card of that agent with its own URLs", async () => {
    await using server = serving([planner, clerk]);
    const card = await buildAgentCardForAgent(clerk, undefined, { server });
    expect(card).toMatchObject({ name: "Clerk", skills: [{ id: "clerk", name: "Clerk" }] });
    for (const url of addressesOf(card)) expect(url).toMatch(/^https:\/\/agents\.example\/agents\/clerk/);
    const moved = await buildAgentCardForAgent(clerk, "http://127.0.0.1:3000", { server });
    for (const url of addressesOf(moved)) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:3000\/agents\/clerk/);
  });

  it("rejects with NotFoundError for an agent that is not served", async () => {
    await using server = serving(planner);
    await expect(buildAgentCardForAgent(clerk, undefined, { server })).rejects.toEqual(new NotFoundError("Agent"));
  });
});
