import { describe, expect, it } from "vitest";
import { agent } from "../engine/agent/agent.ts";
import { IDEMPOTENT_SEND } from "../protocol/extensions.ts";
import { agentCard, extendedAgentCard } from "./card.ts";

const base = { name: "Trip", description: "Plans.", version: "1.0.0", run: async () => {} };
const interfaces = [{ url: "https://agents.example/", binding: "JSONRPC", protocolVersion: "9.9" }];
const caller = { id: "ada", anonymous: false };

describe("A card", () => {
  it("shows everything the author declares except functions", () => {
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
        securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } },
        security: [{ key: [] }],
        skills: [
          {
            id: "plan",
            name: "Plan",
            description: "Plans.",
            tags: ["travel"],
            examples: ["Oslo"],
            security: [{ key: ["plan"] }],
            run: async () => {},
          },
        ],
        timeout: 5,
      }),
      interfaces,
    );
    expect(JSON.parse(JSON.stringify(card))).toEqual({
      name: "Trip",
      description: "Plans.",
      version: "1.0.0",
      interfaces,
      provider: { organization: "Acme", url: "https://acme.example" },
      iconUrl: "https://acme.example/icon.png",
      documentationUrl: "https://acme.example/docs",
      capabilities: { streaming: false, pushNotifications: false, extensions: [{ uri: "urn:x", required: true }] },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["image/png"],
      securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } },
      security: [{ key: [] }],
      skills: [
        {
          id: "plan",
          name: "Plan",
          description: "Plans.",
          tags: ["travel"],
          examples: ["Oslo"],
          security: [{ key: ["plan"] }],
        },
      ],
    });
  });

  it("announces the idempotency window only if the server has one", () => {
    const extensions = [{ uri: "urn:x" }, { uri: IDEMPOTENT_SEND }];
    const plain = agentCard(agent({ ...base, extensions }), interfaces);
    expect(plain.capabilities.extensions).toEqual([{ uri: "urn:x" }]);
    const once = agentCard(agent({ ...base, extensions }), interfaces, { idempotencyWindow: 90_000 });
    expect(once.capabilities.extensions).toEqual([
      { uri: "urn:x" },
      { uri: IDEMPOTENT_SEND, description: expect.any(String), params: { windowSeconds: 90 } },
    ]);
  });

  it("omits security if none is declared", () => {
    const card = agentCard(agent({ ...base, securitySchemes: {}, security: [] }), interfaces);
    expect(card).not.toHaveProperty("securitySchemes");
    expect(card).not.toHaveProperty("security");
  });

  it("has a skill with a tag even if the author declares none", () => {
    expect(agentCard(agent(base), interfaces).skills).toEqual([
      { id: "trip", name: "Trip", description: "Plans.", tags: ["trip"] },
    ]);
    const untagged = agent({ ...base, skills: [{ id: "s", name: "S", description: "S.", tags: [] }] });
    expect(agentCard(untagged, interfaces).skills[0]?.tags).toEqual(["s"]);
  });

  it("has an extended version only if the author declares one", async () => {
    expect(await extendedAgentCard(agent(base), interfaces, { caller })).toBeUndefined();
    expect(agentCard(agent(base), interfaces).capabilities).not.toHaveProperty("extendedAgentCard");
    const skills = [{ id: "secret", name: "Secret", description: "S.", tags: ["s"] }];
    const extended = agent({ ...base, extendedCard: { skills } });
    expect(agentCard(extended, interfaces)).toMatchObject({
      capabilities: { extendedAgentCard: true },
      skills: [{ id: "trip" }],
    });
    expect(await extendedAgentCard(extended, interfaces, { caller })).toMatchObject({
      name: "Trip",
      interfaces,
      skills,
    });
  });
});
