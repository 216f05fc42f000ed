import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgentCard, OAUTH_FLOWS, type OAuthFlow, type SecurityScheme } from "../../protocol/card.ts";
import { cardObject, decodeCard, encodeCard } from "./card.ts";
import { card as anyCard, SAMPLES } from "./test/models.ts";

const flow: OAuthFlow = { tokenUrl: "https://id.example/token", scopes: { read: "Read" } };

const CARD: AgentCard = {
  name: "Planner",
  description: "Plans.",
  version: "1.2.3",
  interfaces: [
    { url: "https://a.example/", binding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://a.example", binding: "HTTP+JSON", protocolVersion: "1.0", tenant: "acme" },
  ],
  provider: { organization: "Example", url: "https://example.org" },
  iconUrl: "https://a.example/icon.png",
  documentationUrl: "https://a.example/docs",
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [{ uri: "https://a.example/extension", required: true }],
    extendedAgentCard: true,
  },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "plan", name: "Plan", description: "Plans.", tags: ["travel"], security: [{ oauth: ["read"] }] }],
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "X-Key", description: "A key" },
    bearer: { type: "http", scheme: "Bearer", bearerFormat: "JWT" },
    oauth: { type: "oauth2", flows: { clientCredentials: flow }, oauth2MetadataUrl: "https://id.example/metadata" },
    oidc: { type: "openIdConnect", openIdConnectUrl: "https://id.example/.well-known/openid-configuration" },
    mtls: { type: "mutualTLS" },
  },
  security: [{ bearer: [], key: [] }, { oauth: ["read"] }],
};

describe("A card of 1.0", () => {
  it("has the members that 1.0 defines", () => {
    const { security: _security, ...skill } = CARD.skills[0] ?? {};
    expect(JSON.parse(encodeCard(CARD))).toEqual({
      name: "Planner",
      description: "Plans.",
      version: "1.2.3",
      supportedInterfaces: [
        { url: "https://a.example/", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url: "https://a.example", protocolBinding: "HTTP+JSON", protocolVersion: "1.0", tenant: "acme" },
      ],
      provider: CARD.provider,
      iconUrl: CARD.iconUrl,
      documentationUrl: CARD.documentationUrl,
      capabilities: CARD.capabilities,
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ ...skill, securityRequirements: [{ schemes: { oauth: { list: ["read"] } } }] }],
      securitySchemes: {
        key: { apiKeySecurityScheme: { location: "header", name: "X-Key", description: "A key" } },
        bearer: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
        oauth: {
          oauth2SecurityScheme: {
            flows: { clientCredentials: flow },
            oauth2MetadataUrl: "https://id.example/metadata",
          },
        },
        oidc: {
          openIdConnectSecurityScheme: {
            openIdConnectUrl: "https://id.example/.well-known/openid-configuration",
          },
        },
        mtls: { mtlsSecurityScheme: {} },
      },
      securityRequirements: [
        { schemes: { bearer: { list: [] }, key: { list: [] } } },
        { schemes: { oauth: { list: ["read"] } } },
      ],
    });
  });

  it("has no members that 1.0 does not define, whatever members the author's objects have", () => {
    const extra = { x: 1 };
    const card = {
      ...CARD,
      ...extra,
      provider: { organization: "Example", url: "https://example.org", ...extra },
      capabilities: { streaming: true, stateTransitionHistory: true },
      skills: CARD.skills.map((skill) => ({ ...skill, ...extra })),
      securitySchemes: { key: { type: "apiKey", in: "query", name: "k", ...extra } as SecurityScheme },
    };
    const text = encodeCard(card);
    expect(text).not.toContain('"x"');
    expect(text).not.toContain("stateTransitionHistory");
    expect(text).not.toContain('"type"');
    expect(text).not.toContain('"security"');
  });

  it("has no members for absent declarations, not even undefined ones", () => {
    const { name, description, version, interfaces, defaultInputModes, defaultOutputModes, skills } = CARD;
    const bare = { name, description, version, interfaces, defaultInputModes, defaultOutputModes, skills };
    const object = cardObject({ ...bare, capabilities: {} });
    expect(Object.keys(object).toSorted()).toEqual(
      [
        ...Object.keys(bare).filter((member) => member !== "interfaces"),
        "capabilities",
        "supportedInterfaces",
      ].toSorted(),
    );
    expect(object.capabilities).toEqual({});
  });

  it.each(OAUTH_FLOWS)("has only the first of several OAuth flows: %s", (first) => {
    const rest = OAUTH_FLOWS.slice(OAUTH_FLOWS.indexOf(first));
    const flows = Object.fromEntries(rest.toReversed().map((name) => [name, flow]));
    const { securitySchemes } = cardObject({ ...CARD, securitySchemes: { oauth: { type: "oauth2", flows } } });
    expect(securitySchemes?.["oauth"]).toEqual({ oauth2SecurityScheme: { flows: { [first]: expect.anything() } } });
  });

  it("has only the defined members of an OAuth flow", () => {
    const all: OAuthFlow = {
      authorizationUrl: "https://a",
      deviceAuthorizationUrl: "https://d",
      tokenUrl: "https://t",
      refreshUrl: "https://r",
      scopes: {},
      pkceRequired: true,
    };
    const membersOf = (name: string): readonly string[] => {
      const scheme: SecurityScheme = { type: "oauth2", flows: { [name]: all } };
      const text = encodeCard({ ...CARD, securitySchemes: { s: scheme } });
      const wire: { securitySchemes: { s: { oauth2SecurityScheme: { flows: Record<string, object> } } } } =
        JSON.parse(text);
      return Object.keys(wire.securitySchemes.s.oauth2SecurityScheme.flows[name] ?? {});
    };
    expect(membersOf("authorizationCode")).toEqual([
      "authorizationUrl",
      "tokenUrl",
      "refreshUrl",
      "scopes",
      "pkceRequired",
    ]);
    expect(membersOf("clientCredentials")).toEqual(["tokenUrl", "refreshUrl", "scopes"]);
    expect(membersOf("deviceCode")).toEqual(["deviceAuthorizationUrl", "tokenUrl", "refreshUrl", "scopes"]);
    expect(membersOf("implicit")).toEqual(["authorizationUrl", "refreshUrl", "scopes"]);
    expect(membersOf("password")).toEqual(["tokenUrl", "refreshUrl", "scopes"]);
  });

  it("decodes to the encoded card, except for OAuth flows that are not published", () => {
    expect(decodeCard(JSON.parse(encodeCard(CARD)))).toEqual(CARD);
    fc.assert(
      fc.property(anyCard, (card) => {
        const read = decodeCard(JSON.parse(encodeCard(card)));
        // Encoded again: the flows that were decoded are kept.
        expect(encodeCard(read)).toBe(encodeCard(card));
        const { securitySchemes: _read, ...readRest } = read;
        const { securitySchemes: _written, ...rest } = card;
        expect(JSON.parse(JSON.stringify(readRest))).toEqual(JSON.parse(JSON.stringify(rest)));
      }),
      SAMPLES,
    );
  });
});

describe("The card of another agent", () => {
  it("may be a hybrid card, whose members of 0.3 are ignored", () => {
    const hybrid = {
      ...cardObject(CARD),
      url: "https://a.example/a2a",
      protocolVersion: "0.3.0",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [],
      supportsAuthenticatedExtendedCard: true,
      security: [{ other: [] }],
      securitySchemes: Object.fromEntries(
        Object.entries(cardObject(CARD).securitySchemes ?? {}).map(([name, scheme]) => [
          name,
          { type: "apiKey", in: "cookie", name: "flat", ...scheme },
        ]),
      ),
    };
    expect(decodeCard(JSON.parse(JSON.stringify(hybrid)))).toEqual(CARD);
  });

  it("may have security in the format of 0.x", () => {
    const { security, securitySchemes, skills } = CARD;
    const read = decodeCard({ name: "x", security, securitySchemes, skills });
    expect(read).toMatchObject({ security, securitySchemes, skills });
    const proto = [{ schemes: { bearer: { list: ["a"] }, key: {} } }];
    expect(decodeCard({ name: "x", security: proto }).security).toEqual([{ bearer: ["a"], key: [] }]);
    expect(decodeCard({ name: "x", security: [{ schemes: ["a"] }] }).security).toEqual([{ schemes: ["a"] }]);
  });

  it.each([
    { capabilities: { extendedAgentCard: true } },
    { capabilities: { extended_agent_card: true } },
    { capabilities: {}, supportsExtendedAgentCard: true },
    { supportsAuthenticatedExtendedCard: true },
  ])("may declare its extended card as in drafts of 1.0: %j", (declared) => {
    expect(decodeCard(declared).capabilities.extendedAgentCard).toBe(true);
  });

  it("may have snake_case names, null for absent members, and unknown members", () => {
    const read = decodeCard({
      name: "x",
      supported_interfaces: [{ url: "u", protocol_binding: "JSONRPC", protocol_version: "1.0.1", tenant: null }, null],
      default_input_modes: ["text/plain"],
      icon_url: null,
      documentation_url: "https://docs",
      provider: null,
      capabilities: { push_notifications: true, extensions: null },
      security_schemes: { s: { api_key_security_scheme: { location: "query", name: "k" } }, other: { newScheme: {} } },
      security_requirements: [{ schemes: { s: {} } }],
      skills: [{ id: "s", name: "S", input_modes: ["image/png"], x: 1 }],
      x: { y: 1 },
    });
    expect(read).toEqual({
      name: "x",
      description: "",
      version: "",
      interfaces: [{ url: "u", binding: "JSONRPC", protocolVersion: "1.0" }],
      documentationUrl: "https://docs",
      capabilities: { pushNotifications: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: [],
      skills: [{ id: "s", name: "S", description: "", tags: [], inputModes: ["image/png"] }],
      securitySchemes: { s: { type: "apiKey", in: "query", name: "k" } },
      security: [{ s: [] }],
    });
  });
});
