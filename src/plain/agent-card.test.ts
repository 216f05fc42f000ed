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

/** Every address in a card. */
function addressesOf(card: object): readonly string[] {
  return Array.from(JSON.stringify(card).matchAll(/"url":"([^"]*)"/g), ([, url = ""]) => url);
}

describe("buildAgentCard", () => {
  it("is the card of the agent at the root, as it is served", async () => {
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

  it("has its addresses where it is told to have them", async () => {
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
    ["of the newest version alone", { versions: ["1.0"] }],
    ["of one that is older", { versions: ["0.3"] }],
    ["of the oldest versions", { versions: ["0.2", "0.1"] }],
    ["of the oldest one, with the plain dialect", { versions: ["0.1", "plain"] }],
    ["that is strict", { card: "strict" }],
  ] as const)("has its addresses there also from a server %s", async (_what, options) => {
    await using server = serving(planner, { ...options, publicUrl: "https://agents.example/base/a2a" });
    const addresses = addressesOf(await buildAgentCard("https://elsewhere.example", { server }));
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(address).toMatch(/^https:\/\/elsewhere\.example(\/|\/a2a)?$/);
  });

  it("is of the server named last, where none is named", async () => {
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
  it("is the card of that agent, at its own place", async () => {
    await using server = serving([planner, clerk]);
    const card = await buildAgentCardForAgent(clerk, undefined, { server });
    expect(card).toMatchObject({ name: "Clerk", skills: [{ id: "clerk", name: "Clerk" }] });
    for (const url of addressesOf(card)) expect(url).toMatch(/^https:\/\/agents\.example\/agents\/clerk/);
    const moved = await buildAgentCardForAgent(clerk, "http://127.0.0.1:3000", { server });
    for (const url of addressesOf(moved)) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:3000\/agents\/clerk/);
  });

  it("is not there for an agent that is not served", async () => {
    await using server = serving(planner);
    await expect(buildAgentCardForAgent(clerk, undefined, { server })).rejects.toEqual(new NotFoundError("Agent"));
  });
});
