import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentCard } from "../../protocol/card.ts";
import { BARE_CARD } from "../test/cards.ts";
import { encodeCard } from "./card.ts";
import { createRestClientCodec } from "./client-codec.ts";
import { card, SAMPLES } from "./test/models.ts";

const client = createRestClientCodec();

const CARD: AgentCard = {
  ...BARE_CARD,
  interfaces: [
    { url: "https://agent.test/", binding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://agent.test/a2a", binding: "JSONRPC", protocolVersion: "0.3" },
    { url: "https://agent.test", binding: "HTTP+JSON", protocolVersion: "0.3" },
  ],
  iconUrl: "https://agent.test/icon.png",
  capabilities: { streaming: true, extendedAgentCard: true },
  skills: [{ id: "s", name: "S", description: "d", tags: ["t"], security: [{ login: ["a"] }] }],
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "X-Key", description: "A key." },
    login: {
      type: "oauth2",
      flows: {
        clientCredentials: { tokenUrl: "https://id.test/token", scopes: { a: "A" } },
        authorizationCode: {
          authorizationUrl: "https://id.test",
          tokenUrl: "https://id.test/token",
          scopes: {},
          pkceRequired: true,
        },
      },
    },
    device: {
      type: "oauth2",
      flows: {
        deviceCode: { deviceAuthorizationUrl: "https://id.test", tokenUrl: "https://id.test/token", scopes: {} },
      },
    },
  },
  security: [{ key: [] }, { device: ["a"] }],
};

test("a card has this text: pinned", () => {
  expect(JSON.parse(encodeCard(CARD))).toStrictEqual({
    protocolVersion: "0.3.0",
    name: "N",
    description: "",
    url: "https://agent.test/a2a",
    preferredTransport: "JSONRPC",
    additionalInterfaces: [
      { url: "https://agent.test/a2a", transport: "JSONRPC" },
      { url: "https://agent.test", transport: "HTTP+JSON" },
    ],
    version: "1",
    iconUrl: "https://agent.test/icon.png",
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [
      { id: "s", name: "S", description: "d", tags: ["t"], security: [{ schemes: { login: { list: ["a"] } } }] },
    ],
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: {
      key: { apiKeySecurityScheme: { location: "header", name: "X-Key", description: "A key." } },
      login: {
        oauth2SecurityScheme: {
          flows: {
            authorizationCode: { authorizationUrl: "https://id.test", tokenUrl: "https://id.test/token", scopes: {} },
          },
        },
      },
    },
    security: [{ schemes: { key: { list: [] } } }, { schemes: { device: { list: ["a"] } } }],
  });
});

test("a card decodes to the encoded card", () => {
  fc.assert(
    fc.property(card, (declared) => {
      const result = client.decodeResult("extended-card", JSON.parse(encodeCard(declared)));
      expect(result).toStrictEqual({ kind: "card", card: declared });
    }),
    SAMPLES,
  );
});
