import { describe, expect, it } from "vitest";
import type { AgentCard, SecurityScheme } from "../protocol/card.ts";
import { createDialects } from "./dialects.ts";
import { encodeCard as encodeProtoCard } from "./v0_3_proto/card.ts";

const hybrid = createDialects({ card: "hybrid" });
const strict = createDialects({ card: "strict" });

describe("The card a reader gets", () => {
  it.each([
    ["1.0", "1.0", "1.0"],
    ["1.0.1", "1.0", "1.0"],
    ["0.3", "0.3", "0.3"],
    ["0.2", "0.2", "0.2"],
    ["0.2.6", "0.2", "0.2"],
    ["0.1", "0.1", "0.1"],
    [undefined, "hybrid", "1.0"],
    ["", "hybrid", "1.0"],
    ["2.0", "hybrid", "1.0"],
    ["garbage", "hybrid", "1.0"],
  ])("is, for A2A-Version %j, in the format %s, or %s if the option card is strict", (requested, usual, strictly) => {
    expect(createDialects().chooseCard(requested).variant).toBe(usual);
    expect(hybrid.chooseCard(requested).variant).toBe(usual);
    expect(strict.chooseCard(requested).variant).toBe(strictly);
  });

  it("has the members of its variant", () => {
    expect(membersFor("1.0")).toHaveProperty("supportedInterfaces");
    expect(membersFor("1.0")).not.toHaveProperty("protocolVersion");
    expect(membersFor("0.3")).toMatchObject({ protocolVersion: "0.3.0" });
    expect(membersFor("0.3")).not.toHaveProperty("supportedInterfaces");
    expect(membersFor("0.2")).toMatchObject({ protocolVersion: "0.2.6", url: "https://a.example/a2a" });
    expect(membersFor("0.1")).toMatchObject({ authentication: { schemes: ["Bearer"] }, url: "https://a.example/a2a" });
    expect(membersFor("0.1")).not.toHaveProperty("protocolVersion");
    expect(membersFor()).toMatchObject({ protocolVersion: "0.3.0" });
    expect(membersFor()).toHaveProperty("supportedInterfaces");
  });

  it("lists no interface of another version in the cards of 0.x", () => {
    const own = [
      { url: "https://a.example/a2a", transport: "JSONRPC" },
      { url: "https://a.example", transport: "HTTP+JSON" },
    ];
    expect(membersFor("0.3")).toMatchObject({ additionalInterfaces: own });
    expect(membersFor("0.2")).toMatchObject({ additionalInterfaces: own.slice(0, 1) });
    expect(membersFor()).toMatchObject({ additionalInterfaces: own });
  });

  it("is that of the newest supported version if 0.3 or 1.0 is not supported", () => {
    const variant = (versions: readonly string[], requested?: string) =>
      createDialects({ versions }).chooseCard(requested).variant;
    expect(variant(["1.0", "0.2"])).toBe("1.0");
    expect(variant(["0.3", "0.1"])).toBe("0.3");
    expect(variant(["0.2"])).toBe("0.2");
    expect(variant(["1.0", "0.2"], "0.3")).toBe("1.0");
  });
});

describe("The card at /.well-known/agent.json", () => {
  const variant = (requested?: string, versions?: readonly string[]) =>
    createDialects({ versions }).chooseLegacyCard(requested)?.variant;

  it("is the union card, unless the reader requests a version", () => {
    expect([undefined, "", "2.0", "garbage"].map((requested) => variant(requested))).toEqual(Array(4).fill("union"));
    for (const version of ["0.1", "0.2", "0.3", "1.0"]) expect(variant(version)).toBe(version);
    expect(variant("0.3", ["1.0", "0.1"])).toBe("union");
  });

  it("does not exist if the server supports none of 0.1, 0.2 and 0.3", () => {
    expect(variant(undefined, ["1.0", "plain"])).toBeUndefined();
    expect(variant("1.0", ["1.0"])).toBeUndefined();
    for (const version of ["0.3", "0.2", "0.1"]) expect(variant(undefined, ["1.0", version])).toBe("union");
  });
});

describe("The card of every version", () => {
  const SCHEMES: Readonly<Record<string, SecurityScheme>> = {
    key: { type: "apiKey", in: "header", name: "x-key" },
    token: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    password: { type: "http", scheme: "basic" },
    oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://t", scopes: { read: "Read" } } } },
    openid: { type: "openIdConnect", openIdConnectUrl: "https://o" },
    certificate: { type: "mutualTLS" },
  };
  const secured: AgentCard = {
    ...card(),
    capabilities: { pushNotifications: true },
    securitySchemes: SCHEMES,
    security: Object.keys(SCHEMES).map((name) => ({ [name]: [] })),
  };
  const readers = [undefined, "1.0", "0.3", "0.2", "0.1"];

  it.each(readers)("declares webhooks to a reader of %s", (requested) => {
    for (const choose of [hybrid.chooseCard, strict.chooseCard, hybrid.chooseLegacyCard]) {
      const codec = choose(requested);
      expect(JSON.parse(codec?.encodeCard(secured) ?? "{}")).toMatchObject({
        capabilities: { pushNotifications: true },
      });
    }
    expect(JSON.parse(encodeProtoCard(secured))).toMatchObject({ capabilities: { pushNotifications: true } });
  });

  it.each([
    ["1.0", hybrid.chooseCard("1.0").encodeCard, Object.keys(SCHEMES)],
    ["both", hybrid.chooseCard(undefined).encodeCard, Object.keys(SCHEMES)],
    ["0.3", hybrid.chooseCard("0.3").encodeCard, Object.keys(SCHEMES)],
    ["0.3 in the other style", encodeProtoCard, Object.keys(SCHEMES)],
    // 0.1 has no name for mutualTLS.
    ["0.2", hybrid.chooseCard("0.2").encodeCard, Object.keys(SCHEMES).slice(0, -1)],
  ] as const)("names every scheme that its version knows: %s", (_readers, encode, names) => {
    const { securitySchemes } = JSON.parse(encode(secured));
    expect(Object.keys(securitySchemes)).toEqual(names);
    for (const scheme of Object.values(securitySchemes)) expect(scheme).not.toEqual({});
  });

  it("has the scheme names of 0.1 for readers of 0.1", () => {
    const expected = {
      authentication: {
        schemes: ["ApiKey", "Bearer", "Basic", "OAuth2"],
        credentials: '{"in":"header","name":"x-key"}',
      },
    };
    expect(JSON.parse(hybrid.chooseCard("0.1").encodeCard(secured))).toMatchObject(expected);
    expect(JSON.parse(hybrid.chooseLegacyCard(undefined)?.encodeCard(secured) ?? "{}")).toMatchObject(expected);
  });
});

function card(): AgentCard {
  return {
    name: "n",
    description: "d",
    version: "1",
    interfaces: hybrid.interfaces("https://a.example"),
    capabilities: {},
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    securitySchemes: { token: { type: "http", scheme: "bearer" } },
  };
}

function membersFor(requested?: string): object {
  return JSON.parse(hybrid.chooseCard(requested).encodeCard(card()));
}
