import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentCard, SecurityScheme } from "../../protocol/card.ts";
import { PLANNER } from "../test/cards.ts";
import { authenticationOf } from "./authentication.ts";
import { decodeCard, encodeCard } from "./card.ts";
import { card, SAMPLES } from "./test/models.ts";

const declared: AgentCard = {
  ...PLANNER,
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "x-key" },
    token: { type: "http", scheme: "bearer" },
    unused: { type: "http", scheme: "basic" },
  },
  security: [{ key: [], token: ["read"] }],
};

const KEY: SecurityScheme = { type: "apiKey", in: "query", name: "k" };

function secured(schemes: Readonly<Record<string, SecurityScheme>>, security?: AgentCard["security"]): AgentCard {
  const { security: _own, ...rest } = declared;
  return { ...rest, securitySchemes: schemes, ...(security !== undefined && { security }) };
}

describe("A 0.1 card", () => {
  it("has exactly the members of its version", () => {
    expect(JSON.parse(encodeCard(declared))).toEqual({
      name: "Planner",
      description: "Plans.",
      url: "https://a/a2a",
      provider: { organization: "Us", url: "https://us" },
      version: "1.2.3",
      documentationUrl: "https://a/docs",
      capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
      authentication: { schemes: ["ApiKey", "Bearer"], credentials: '{"in":"header","name":"x-key"}' },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["application/json"],
      skills: [{ id: "s", name: "S", description: "Does S.", tags: ["t"], examples: ["e"] }],
    });
  });

  it.each([
    ["its own address", [{ url: "https://a/old", binding: "JSONRPC", protocolVersion: "0.1" }], "https://a/old"],
    ["that of a version near it", [{ url: "https://a/2", binding: "JSONRPC", protocolVersion: "0.2" }], "https://a/2"],
    ["none where there is none", [{ url: "https://a/1", binding: "JSONRPC", protocolVersion: "1.0" }], ""],
  ])("has %s", (_which, interfaces, url) => {
    expect(JSON.parse(encodeCard({ ...declared, interfaces }))).toMatchObject({ url });
  });

  it.each<[string, AgentCard, ReturnType<typeof authenticationOf>]>([
    ["nothing where nothing is declared", secured({}), undefined],
    ["nothing where nothing is required", secured({ key: KEY }, []), undefined],
    [
      "all that is declared where nothing is said",
      secured({ key: KEY, a: { type: "http", scheme: "basic" } }),
      { schemes: ["ApiKey", "Basic"], credentials: '{"in":"query","name":"k"}' },
    ],
    [
      "what is required, in that order",
      secured({ a: { type: "http", scheme: "Basic" }, b: { type: "oauth2", flows: {} } }, [{ b: [] }, { a: [] }]),
      { schemes: ["OAuth2", "Basic"] },
    ],
    [
      "each once",
      secured({ a: { type: "http", scheme: "bearer" }, b: { type: "openIdConnect", openIdConnectUrl: "https://x" } }),
      { schemes: ["Bearer"] },
    ],
    ["nothing that has no name here", secured({ a: { type: "mutualTLS" } }, [{ a: [] }]), undefined],
    ["nothing that is not declared", secured({ key: KEY }, [{ toString: [] }]), undefined],
  ])("has authentication: %s", (_what, source, expected) => {
    expect(authenticationOf(source)).toEqual(expected);
  });

  it("decodes to the encoded value", () => {
    fc.assert(
      fc.property(card, (source) => {
        const { security, ...rest } = decodeCard(JSON.parse(encodeCard(source)));
        const { security: required, ...expected } = source;
        expect(rest).toEqual(expected);
        expect(new Set(security?.map((names) => Object.keys(names)[0]))).toEqual(
          new Set(required?.map((names) => Object.keys(names)[0])),
        );
      }),
      SAMPLES,
    );
  });

  it("is decoded with the fewest members that agents write", () => {
    expect(
      decodeCard({ name: "A", url: "https://a", version: "1", capabilities: {}, skills: [{ id: "s", name: "S" }] }),
    ).toEqual({
      name: "A",
      description: "",
      version: "1",
      interfaces: [{ url: "https://a", binding: "JSONRPC", protocolVersion: "0.1" }],
      capabilities: {},
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "s", name: "S", description: "", tags: [] }],
    });
  });

  it.each([
    ["no details", { schemes: ["apiKey"] }, { type: "apiKey", in: "header", name: "X-API-Key" }],
    [
      "details that are no JSON",
      { schemes: ["ApiKey"], credentials: "ask" },
      { type: "apiKey", in: "header", name: "X-API-Key" },
    ],
    [
      "details that are no object",
      { schemes: ["ApiKey"], credentials: "[]" },
      { type: "apiKey", in: "header", name: "X-API-Key" },
    ],
    ["another scheme", { schemes: ["Digest"] }, { type: "http", scheme: "digest" }],
  ])("is decoded with an authentication of %s", (_what, authentication, scheme) => {
    const { securitySchemes = {}, security } = decodeCard({ url: "https://a", authentication });
    expect(Object.values(securitySchemes)).toEqual([scheme]);
    expect(security).toEqual([{ [authentication.schemes[0] ?? ""]: [] }]);
  });

  it("is decoded without empty members", () => {
    expect(decodeCard({ url: "https://a", authentication: { schemes: [] } })).not.toHaveProperty("security");
  });

  it("is decoded with the security schemes of later versions, if it has them", () => {
    const securitySchemes = { key: { type: "apiKey", in: "cookie", name: "k" } };
    const read = decodeCard({ url: "https://a", authentication: { schemes: ["Bearer"] }, securitySchemes });
    expect(read.securitySchemes).toEqual(securitySchemes);
  });
});
