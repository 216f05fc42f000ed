import { describe, expect, it } from "vitest";
import { type AgentDefinition, agent } from "../engine/agent.ts";
import { agentCard, extendedAgentCard } from "./card.ts";

const base: AgentDefinition = { name: "Trip", description: "Plans.", version: "1.0.0", run: async () => {} };
const url = "https://agents.example/";

describe("A card", () => {
  it("shows all the author declares and none of the author's code", () => {
    const card = agentCard(
      agent({
        ...base,
        provider: { organization: "Acme", url: "https://acme.example" },
        iconUrl: "https://acme.example/icon.png",
        documentationUrl: "https://acme.example/docs",
        inputModes: ["text/plain"],
        outputModes: ["image/png"],
        extensions: [{ uri: "urn:x", required: true }],
        capabilities: { streaming: false },
        skills: [
          {
            id: "plan",
            name: "Plan",
            description: "Plans.",
            tags: ["travel"],
            examples: ["Oslo"],
            run: async () => {},
          },
        ],
        timeout: 5,
      }),
      url,
    );
    expect(JSON.parse(JSON.stringify(card))).toEqual({
      name: "Trip",
      description: "Plans.",
      version: "1.0.0",
      interfaces: [{ url, binding: "JSONRPC", protocolVersion: "1.0" }],
      provider: { organization: "Acme", url: "https://acme.example" },
      iconUrl: "https://acme.example/icon.png",
      documentationUrl: "https://acme.example/docs",
      capabilities: { streaming: false, pushNotifications: false, extensions: [{ uri: "urn:x", required: true }] },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["image/png"],
      skills: [{ id: "plan", name: "Plan", description: "Plans.", tags: ["travel"], examples: ["Oslo"] }],
    });
  });

  it("has a skill with a tag even where the author names none", () => {
    expect(agentCard(agent(base), url).skills).toEqual([
      { id: "trip", name: "Trip", description: "Plans.", tags: ["trip"] },
    ]);
    const untagged = agent({ ...base, skills: [{ id: "s", name: "S", description: "S.", tags: [] }] });
    expect(agentCard(untagged, url).skills[0]?.tags).toEqual(["s"]);
  });

  it("is extended only where the author declares so", () => {
    expect(extendedAgentCard(agent(base), url)).toBeUndefined();
    const skills = [{ id: "secret", name: "Secret", description: "S.", tags: ["s"] }];
    const extended = agent({ ...base, extendedCard: { skills } });
    expect(agentCard(extended, url)).toMatchObject({
      capabilities: { extendedAgentCard: true },
      skills: [{ id: "trip" }],
    });
    expect(extendedAgentCard(extended, url)).toMatchObject({ name: "Trip", skills });
  });
});
