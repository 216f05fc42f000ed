import { describe, expect, it } from "vitest";
import { agent, type CardDefinition } from "../platform/agents/agent.ts";
import type { DeclaredCard } from "../wire/card/declared-card.ts";
import { type ServerFeatures, unsupportedDeclarations } from "./unsupported-declarations.ts";

const WIRING: ServerFeatures = {
  interfaces: [
    { binding: "JSONRPC", protocolVersion: "2.0" },
    { binding: "JSONRPC", protocolVersion: "1.5" },
    { binding: "HTTP+JSON", protocolVersion: "2.0" },
  ],
  authenticates: false,
};

function declare(card: DeclaredCard, definition: Partial<CardDefinition> = {}) {
  const run = async (): Promise<void> => {};
  return agent({ card: { name: "A", description: "A", version: "1", ...card }, run, ...definition });
}

function problems(
  card: DeclaredCard,
  features: Partial<ServerFeatures> = {},
  definition: Partial<CardDefinition> = {},
) {
  const found = unsupportedDeclarations(declare(card, definition), { ...WIRING, ...features });
  return found.map(({ field, problem }) => `${field}: ${problem}`);
}

const skill = { id: "s", name: "S", description: "S.", tags: ["s"] };
const securitySchemes = { key: { type: "apiKey", in: "header", name: "X-Key" } };

describe("A card with supported declarations", () => {
  it.each<[string, DeclaredCard]>([
    ["declares nothing optional", {}],
    ["streams", { capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true } }],
    ["has no extended card", { supportsAuthenticatedExtendedCard: false, capabilities: { extendedAgentCard: false } }],
    [
      "names what is served",
      {
        supportedInterfaces: [
          { url: "https://elsewhere.example/", protocolBinding: "JSONRPC", protocolVersion: "1.5" },
          { url: "https://elsewhere.example/", protocolBinding: "HTTP+JSON", protocolVersion: "2.0" },
        ],
      },
    ],
    ["leaves the version open", { url: "https://elsewhere.example/", preferredTransport: "HTTP+JSON" }],
    ["names a version with its patch", { protocolVersion: "1.5.7", url: "https://elsewhere.example/" }],
    ["is unsigned", { signatures: [] }],
    ["has empty security", { securitySchemes: {}, security: [], skills: [{ ...skill, security: [] }] }],
  ])("is served when it %s", (_, card) => {
    expect(problems(card)).toEqual([]);
  });

  it("may declare security and an extended card if callers are authenticated", () => {
    const card = { securitySchemes, security: [{ key: [] }], supportsAuthenticatedExtendedCard: true };
    expect(problems(card, { authenticates: true }, { extendedCard: { description: "More." } })).toEqual([]);
  });
});

describe("A card that requires security", () => {
  const schemes = { key: { type: "apiKey", in: "header", name: "X-Key" } } as const;

  it("may use the server's schemes without declaring them", () => {
    const card = { security: [{ key: [] }], skills: [{ ...skill, security: [{ key: ["a"] }] }] };
    expect(problems(card, { authenticates: true, schemes })).toEqual([]);
  });

  it.each<[string, DeclaredCard, Partial<ServerFeatures>, RegExp]>([
    [
      "a scheme that the server lacks",
      { security: [{ token: [] }] },
      { schemes },
      /^security: the scheme token does not exist/,
    ],
    [
      "a scheme that nobody declares",
      { security: [{ key: [] }] },
      {},
      /^security: the scheme key does not exist; known schemes: none/,
    ],
    [
      "a skill's scheme that the server lacks",
      { skills: [{ ...skill, security: [{ token: [] }] }] },
      { schemes },
      /^skills\[0\]\.security: the scheme token does not exist; known schemes: key/,
    ],
    [
      "a scheme that the server has otherwise",
      { securitySchemes: { key: { type: "apiKey", in: "query", name: "k" } } },
      { schemes },
      /^securitySchemes\.key: the server has a different scheme/,
    ],
  ])("is refused for %s", (...[, card, features, problem]) => {
    expect(problems(card, { authenticates: true, ...features })).toEqual([expect.stringMatching(problem)]);
  });
});

describe("A card with unsupported declarations", () => {
  it.each<[DeclaredCard, string, RegExp]>([
    [{ capabilities: { extendedAgentCard: true } }, "capabilities.extendedAgentCard", /Declare one as `extendedCard`/],
    [{ supportsAuthenticatedExtendedCard: true }, "capabilities.extendedAgentCard", /supportsAuthenticatedExtended/],
    [{ supportsExtendedAgentCard: true }, "capabilities.extendedAgentCard", /Declare one/],
    [{ securitySchemes }, "securitySchemes", /Configure `security` or `authenticate`/],
    [{ signatures: [{ protected: "a", signature: "b" }] }, "signatures", /Remove them/],
    [
      { supportedInterfaces: [{ protocolBinding: "GRPC", protocolVersion: "2.0" }] },
      "supportedInterfaces[0]",
      /does not support the binding GRPC, only JSONRPC, HTTP\+JSON/,
    ],
    [
      { supportedInterfaces: [{ protocolBinding: "HTTP+JSON", protocolVersion: "1.5" }] },
      "supportedInterfaces[0]",
      /does not support version 1\.5 over HTTP\+JSON, only 2\.0/,
    ],
    [{ supportedInterfaces: ["x"] as never }, "supportedInterfaces[0]", /the binding nothing/],
    [{ preferredTransport: "GRPC" }, "preferredTransport", /the binding GRPC/],
    [{ protocolVersion: "0.1" }, "protocolVersion", /version 0\.1 over JSONRPC/],
    [{ protocolVersion: "new" }, "protocolVersion", /version new/],
    [{ additionalInterfaces: [{ url: "x", transport: "GRPC" }] }, "additionalInterfaces[0]", /GRPC/],
  ])("is refused: %j", (card, field, problem) => {
    expect(problems(card)).toEqual([expect.stringMatching(problem)]);
    expect(problems(card)[0]).toContain(`${field}: `);
  });

  it("gets all problems at once", () => {
    const secured = {
      securitySchemes,
      security: [{ key: [] }],
      skills: [skill, { ...skill, id: "t", security: [{ key: [] }] }],
    };
    expect(problems(secured, {}, { extendedCard: {} }).map((problem) => problem.split(":")[0])).toEqual([
      "securitySchemes",
      "security",
      "skills[1].security",
      "extendedCard",
    ]);
  });

  it("may announce push notifications if the server sends them", () => {
    const capabilities = { pushNotifications: true };
    expect(problems({ capabilities }, { pushes: true })).toEqual([]);
    expect(problems({ capabilities }, { pushes: false })).toEqual([
      expect.stringMatching(/^capabilities\.pushNotifications: .*Set it to false/),
    ]);
  });

  it("may be corrected by the agent's definition", () => {
    const capabilities = { pushNotifications: true, streaming: true };
    const corrected = { capabilities: { pushNotifications: false } };
    expect(problems({ capabilities }, { pushes: false }, corrected)).toEqual([]);
  });
});
