import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../protocol/json.ts";
import { cardObject as cardObject0_3, decodeCard as decodeCard0_3 } from "../v0_3/card.ts";
import { cardObject as cardObject1_0, decodeCard as decodeCard1_0 } from "../v1_0/card.ts";
import { card, SAMPLES } from "../v1_0/test/models.ts";
import { encodeHybridCard } from "./hybrid-card.ts";

describe("A hybrid card", () => {
  it("contains all members of the 0.3 card and of the 1.0 card", () => {
    fc.assert(
      fc.property(card, (declared) => {
        const hybrid: JsonObject = JSON.parse(encodeHybridCard(declared));
        expect(hybrid).toMatchObject(JSON.parse(JSON.stringify(cardObject0_3(declared))));
        expect(hybrid).toMatchObject(JSON.parse(JSON.stringify(cardObject1_0(declared))));
      }),
      SAMPLES,
    );
  });

  it("is decoded by clients of 0.3 and of 1.0 like a card of their own version", () => {
    fc.assert(
      fc.property(card, (declared) => {
        const hybrid: unknown = JSON.parse(encodeHybridCard(declared));
        const newer: unknown = JSON.parse(JSON.stringify(cardObject1_0(declared)));
        expect(decodeCard1_0(hybrid)).toEqual(decodeCard1_0(newer));
        const older: unknown = JSON.parse(JSON.stringify(cardObject0_3(declared)));
        expect(decodeCard0_3(hybrid).interfaces).toEqual(decodeCard0_3(older).interfaces);
      }),
      SAMPLES,
    );
  });

  it("has both formats of a security scheme in one object, and both lists of requirements", () => {
    const text = encodeHybridCard({
      name: "N",
      description: "D",
      version: "1",
      interfaces: [
        { url: "https://a/", binding: "JSONRPC", protocolVersion: "1.0" },
        { url: "https://a/a2a", binding: "JSONRPC", protocolVersion: "0.3" },
      ],
      capabilities: { streaming: true, extendedAgentCard: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "s", name: "S", description: "D", tags: ["t"], security: [{ key: [] }] }],
      securitySchemes: { key: { type: "apiKey", in: "query", name: "k", description: "A key" } },
      security: [{ key: ["a"] }],
    });
    expect(JSON.parse(text)).toEqual({
      protocolVersion: "0.3.0",
      name: "N",
      description: "D",
      version: "1",
      url: "https://a/a2a",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [{ url: "https://a/a2a", transport: "JSONRPC" }],
      supportedInterfaces: [
        { url: "https://a/", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url: "https://a/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      ],
      capabilities: { streaming: true, stateTransitionHistory: false, extendedAgentCard: true },
      supportsAuthenticatedExtendedCard: true,
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [
        {
          id: "s",
          name: "S",
          description: "D",
          tags: ["t"],
          security: [{ key: [] }],
          securityRequirements: [{ schemes: { key: { list: [] } } }],
        },
      ],
      securitySchemes: {
        key: {
          type: "apiKey",
          in: "query",
          name: "k",
          description: "A key",
          apiKeySecurityScheme: { location: "query", name: "k", description: "A key" },
        },
      },
      security: [{ key: ["a"] }],
      securityRequirements: [{ schemes: { key: { list: ["a"] } } }],
    });
  });
});
