import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OLDER_FLOWS, PLANNER } from "../test/cards.ts";
import { cardObject, decodeCard, encodeCard } from "./card.ts";
import { card, SAMPLES } from "./test/models.ts";

describe("A 0.3 card", () => {
  it("has exactly the members of its version", () => {
    const { interfaces: _spelt, capabilities: _too, securitySchemes: _also, ...alike } = PLANNER;
    expect(JSON.parse(encodeCard(PLANNER))).toEqual({
      ...alike,
      protocolVersion: "0.3.0",
      url: "https://a/a2a",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [
        { url: "https://a", transport: "HTTP+JSON" },
        { url: "https://a/a2a", transport: "JSONRPC" },
      ],
      capabilities: {
        streaming: true,
        pushNotifications: false,
        stateTransitionHistory: false,
        extensions: [{ uri: "urn:e", required: true }],
      },
      supportsAuthenticatedExtendedCard: true,
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "x-key", description: "A key" },
        login: {
          type: "oauth2",
          oauth2MetadataUrl: "https://a/meta",
          flows: OLDER_FLOWS,
        },
        certificate: { type: "mutualTLS" },
      },
    });
  });

  it("has another main interface if it has no JSON-RPC interface", () => {
    const interfaces = PLANNER.interfaces.slice(0, 2);
    expect(cardObject({ ...PLANNER, interfaces })).toMatchObject({
      url: "https://a",
      preferredTransport: "HTTP+JSON",
      additionalInterfaces: [{ url: "https://a", transport: "HTTP+JSON" }],
    });
  });

  it("has only the public members of a skill", () => {
    const skills = PLANNER.skills.map((skill) => ({ ...skill, run: "secret" }));
    expect(encodeCard({ ...PLANNER, skills })).not.toContain("secret");
  });

  it("decodes to the encoded value", () => {
    fc.assert(
      fc.property(card, (source) => {
        expect(decodeCard(JSON.parse(encodeCard(source)))).toEqual(source);
      }),
      SAMPLES,
    );
  });

  it("is decoded with few members", () => {
    expect(decodeCard({ name: "N", url: "https://a", protocolVersion: "0.3.0" })).toEqual({
      name: "N",
      description: "",
      version: "",
      interfaces: [{ url: "https://a", binding: "JSONRPC", protocolVersion: "0.3" }],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
    expect(decodeCard({ url: "u", protocolVersion: "0.2.6", preferredTransport: "GRPC" }).interfaces).toEqual([
      { url: "u", binding: "GRPC", protocolVersion: "0.2" },
    ]);
  });
});
