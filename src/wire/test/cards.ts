import type { AgentCard, OAuthFlow } from "../../protocol/card.ts";

/** Only the required members of a card. */
export const BARE_CARD: AgentCard = {
  name: "N",
  description: "",
  version: "1",
  interfaces: [],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

/** The OAuth flows of the sample in the format of 0.2 and 0.3. */
export const OLDER_FLOWS: Readonly<Record<"authorizationCode" | "clientCredentials", OAuthFlow>> = {
  authorizationCode: { authorizationUrl: "https://a/auth", tokenUrl: "https://a/token", scopes: { read: "Read" } },
  clientCredentials: { tokenUrl: "https://a/token", refreshUrl: "https://a/refresh", scopes: {} },
};

/** With all members of a card, including some that versions before 1.0 lack. */
export const PLANNER: AgentCard = {
  name: "Planner",
  description: "Plans.",
  version: "1.2.3",
  interfaces: [
    { url: "https://a/", binding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://a", binding: "HTTP+JSON", protocolVersion: "0.3" },
    { url: "https://a/a2a", binding: "JSONRPC", protocolVersion: "0.3", tenant: "x" },
    { url: "https://a/old", binding: "JSONRPC", protocolVersion: "0.2" },
  ],
  provider: { organization: "Us", url: "https://us" },
  iconUrl: "https://a/icon",
  documentationUrl: "https://a/docs",
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [{ uri: "urn:e", required: true }],
    extendedAgentCard: true,
  },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["application/json"],
  skills: [{ id: "s", name: "S", description: "Does S.", tags: ["t"], examples: ["e"], security: [{ key: [] }] }],
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "x-key", description: "A key" },
    login: {
      type: "oauth2",
      oauth2MetadataUrl: "https://a/meta",
      flows: {
        ...OLDER_FLOWS,
        authorizationCode: { ...OLDER_FLOWS.authorizationCode, pkceRequired: true },
        deviceCode: { deviceAuthorizationUrl: "https://a/device", tokenUrl: "https://a/token", scopes: {} },
      },
    },
    certificate: { type: "mutualTLS" },
  },
  security: [{ key: [], login: ["read"] }],
};
