import { describe, expect, it } from "vitest";
import { agent, type CardDefinition } from "../engine/agent/agent.ts";
import type { DeclaredCard } from "../engine/agent/card-types.ts";
import { unwiredDeclarations, type Wiring } from "./unwired.ts";

const WIRING: Wiring = {
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

function problems(card: DeclaredCard, wiring: Partial<Wiring> = {}, definition: Partial<CardDefinition> = {}) {
  const found = unwiredDeclarations(declare(card, definition), { ...WIRING, ...wiring });
  return found.map(({ field, problem }) => `${field}: ${problem}`);
}

const skill = { id: "s", name: "S", description: "S.", tags: ["s"] };
const securitySchemes = { key: { type: "apiKey", in: "header", name: "X-Key" } };

describe("A card that keeps to what is wired", () => {
  it.each<[string, DeclaredCard]>([
    ["says little", {}],
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

  it("may declare security and an extended card where callers are told apart", () => {
    const card = { securitySchemes, security: [{ key: [] }], supportsAuthenticatedExtendedCard: true };
    expect(problems(card, { authenticates: true }, { extendedCard: { description: "More." } })).toEqual([]);
  });
});

describe("A card that requires security", () => {
  const schemes = { key: { type: "apiKey", in: "header", name: "X-Key" } } as const;

  it("may name schemes that the server has, without declaring them", () => {
    const card = { security: [{ key: [] }], skills: [{ ...skill, security: [{ key: ["a"] }] }] };
    expect(problems(card, { authenticates: true, schemes })).toEqual([]);
  });

  it.each<[string, DeclaredCard, Partial<Wiring>, RegExp]>([
    [
      "a scheme that the server lacks",
      { security: [{ token: [] }] },
      { schemes },
      /^security: there is no scheme token/,
    ],
    [
      "a scheme that nobody declares",
      { security: [{ key: [] }] },
      {},
      /^security: there is no scheme key; there is none/,
    ],
    [
      "a skill's scheme that the server lacks",
      { skills: [{ ...skill, security: [{ token: [] }] }] },
      { schemes },
      /^skills\[0\]\.security: there is no scheme token; there is key/,
    ],
    [
      "a scheme that the server has otherwise",
      { securitySchemes: { key: { type: "apiKey", in: "query", name: "k" } } },
      { schemes },
      /^securitySchemes\.key: the server has another scheme/,
    ],
  ])("is refused for %s", (...[, card, wiring, problem]) => {
    expect(problems(card, { authenticates: true, ...wiring })).toEqual([expect.stringMatching(problem)]);
  });
});

describe("A card that promises what is not wired", () => {
  it.each<[DeclaredCard, string, RegExp]>([
    [{ capabilities: { extendedAgentCard: true } }, "capabilities.extendedAgentCard", /Declare one as `extendedCard`/],
    [{ supportsAuthenticatedExtendedCard: true }, "capabilities.extendedAgentCard", /supportsAuthenticatedExtended/],
    [{ supportsExtendedAgentCard: true }, "capabilities.extendedAgentCard", /Declare one/],
    [{ securitySchemes }, "securitySchemes", /Give the server `security` or `authenticate`/],
    [{ signatures: [{ protected: "a", signature: "b" }] }, "signatures", /Take them out/],
    [
      { supportedInterfaces: [{ protocolBinding: "GRPC", protocolVersion: "2.0" }] },
      "supportedInterfaces[0]",
      /GRPC is not served here; what is: JSONRPC, HTTP\+JSON/,
    ],
    [
      { supportedInterfaces: [{ protocolBinding: "HTTP+JSON", protocolVersion: "1.5" }] },
      "supportedInterfaces[0]",
      /version 1\.5 over HTTP\+JSON is not spoken here; what is: 2\.0/,
    ],
    [{ supportedInterfaces: ["x"] as never }, "supportedInterfaces[0]", /nothing is not served/],
    [{ preferredTransport: "GRPC" }, "preferredTransport", /GRPC is not served/],
    [{ protocolVersion: "0.1" }, "protocolVersion", /version 0\.1 over JSONRPC/],
    [{ protocolVersion: "new" }, "protocolVersion", /version new/],
    [{ additionalInterfaces: [{ url: "x", transport: "GRPC" }] }, "additionalInterfaces[0]", /GRPC/],
  ])("is refused: %j", (card, field, problem) => {
    expect(problems(card)).toEqual([expect.stringMatching(problem)]);
    expect(problems(card)[0]).toContain(`${field}: `);
  });

  it("is told everything at once", () => {
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

  it("may promise notifications where the server sends them", () => {
    const capabilities = { pushNotifications: true };
    expect(problems({ capabilities }, { pushes: true })).toEqual([]);
    expect(problems({ capabilities }, { pushes: false })).toEqual([
      expect.stringMatching(/^capabilities\.pushNotifications: .*Set it to false/),
    ]);
  });

  it("may be mended by its definition", () => {
    const capabilities = { pushNotifications: true, streaming: true };
    const mended = { capabilities: { pushNotifications: false } };
    expect(problems({ capabilities }, { pushes: false }, mended)).toEqual([]);
  });
});
