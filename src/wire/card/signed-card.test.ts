import { describe, expect, it } from "vitest";
import { signedForms } from "./signed-card.ts";

function formsOf(card: Record<string, unknown>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(signedForms(card).map(({ form, json }) => [form, json]));
}

const FULL = {
  name: "A",
  description: "B",
  version: "1",
  supportedInterfaces: [{ url: "https://a", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "D", tags: ["t"] }],
};

describe("the signed forms of a card", () => {
  it("are equal, and omit signatures, if the card has no empty and no unknown members", () => {
    const forms = formsOf({ ...FULL, signatures: [{ protected: "x", signature: "y" }] });
    expect(forms).toEqual({ definition: FULL, "without-empty": FULL, "as-written": FULL });
  });

  it('in the form "definition", contain required members even if they are empty or missing', () => {
    expect(formsOf({ name: "A", description: "", skills: [{ id: "s" }] })["definition"]).toEqual({
      name: "A",
      description: "",
      version: "",
      supportedInterfaces: [],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [{ id: "s", name: "", description: "", tags: [] }],
    });
  });

  it('in the form "definition", contain optional members that are set, and other members that are not empty', () => {
    const card = {
      ...FULL,
      iconUrl: "",
      documentationUrl: null,
      securityRequirements: [],
      securitySchemes: {
        a: { type: "apiKey", apiKeySecurityScheme: { location: "header", name: "", description: "" } },
        o: {
          oauth2SecurityScheme: {
            flows: { authorizationCode: { authorizationUrl: "u", tokenUrl: "t", scopes: {}, pkceRequired: false } },
          },
        },
        m: { mtlsSecurityScheme: {} },
      },
      provider: {},
      capabilities: {
        streaming: false,
        extensions: [{ uri: "x", required: false, description: "", params: { a: "" } }],
      },
      skills: [
        { id: "s", name: "S", description: "D", tags: ["t"], examples: [], securityRequirements: [{ schemes: {} }] },
      ],
    };
    expect(formsOf(card)["definition"]).toEqual({
      ...FULL,
      iconUrl: "",
      provider: { url: "", organization: "" },
      securitySchemes: {
        a: { apiKeySecurityScheme: { location: "header", name: "" } },
        o: {
          oauth2SecurityScheme: { flows: { authorizationCode: { authorizationUrl: "u", tokenUrl: "t", scopes: {} } } },
        },
        m: { mtlsSecurityScheme: {} },
      },
      capabilities: { streaming: false, extensions: [{ uri: "x", params: { a: "" } }] },
      skills: [{ id: "s", name: "S", description: "D", tags: ["t"], securityRequirements: [{}] }],
    });
    expect(formsOf(card)["without-empty"]).toEqual({
      ...FULL,
      securitySchemes: {
        a: { apiKeySecurityScheme: { location: "header" } },
        o: { oauth2SecurityScheme: { flows: { authorizationCode: { authorizationUrl: "u", tokenUrl: "t" } } } },
      },
      capabilities: { streaming: false, extensions: [{ uri: "x" }] },
    });
  });

  it('omit unknown members, except in the form "as-written"', () => {
    const card = { ...FULL, url: "https://evil", capabilities: { streaming: true, stateTransitionHistory: false } };
    const forms = formsOf(card);
    expect(forms["definition"]).toEqual(FULL);
    expect(forms["without-empty"]).toEqual(FULL);
    expect(forms["as-written"]).toEqual(card);
  });

  it("accept members of the wrong type", () => {
    const card = { name: 5, skills: "none", capabilities: [], securitySchemes: { a: 1 }, supportedInterfaces: [1] };
    expect(formsOf(card)["definition"]).toMatchObject(card);
  });
});
