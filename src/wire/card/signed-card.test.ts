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

describe("what a card's signature is over", () => {
  it("is the card without its signatures, in all forms alike where nothing is empty and all is known", () => {
    const forms = formsOf({ ...FULL, signatures: [{ protected: "x", signature: "y" }] });
    expect(forms).toEqual({ definition: FULL, "without-empty": FULL, "as-written": FULL });
  });

  it("by the definition, holds what is required even if it is empty or was not written", () => {
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

  it("by the definition, holds what is optional if it was set, and all else if it says something", () => {
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

  it("leaves out what the definition does not know, but in the form that is all that was written", () => {
    const card = { ...FULL, url: "https://evil", capabilities: { streaming: true, stateTransitionHistory: false } };
    const forms = formsOf(card);
    expect(forms["definition"]).toEqual(FULL);
    expect(forms["without-empty"]).toEqual(FULL);
    expect(forms["as-written"]).toEqual(card);
  });

  it("is made of members that are of the wrong type as well", () => {
    const card = { name: 5, skills: "none", capabilities: [], securitySchemes: { a: 1 }, supportedInterfaces: [1] };
    expect(formsOf(card)["definition"]).toMatchObject(card);
  });
});
