import { describe, expect, it } from "vitest";
import { processorTime } from "../../internal/test/processor-time.ts";
import type { AgentCard } from "../../protocol/card.ts";
import { A2AError } from "../../protocol/error.ts";
import { createDialects } from "../dialects.ts";
import { VERSIONS } from "../registry.ts";
import { CARD_VERSION, readCard } from "./client-cards.ts";

const NEW = "https://a.example/.well-known/agent-card.json";
const OLD = "https://a.example/.well-known/agent.json";

/** The interfaces as short texts. */
function ways(value: unknown, from?: string): readonly string[] {
  return readCard(value, from).card.interfaces.map(
    ({ url, binding, protocolVersion, tenant }) =>
      `${protocolVersion} ${binding} ${url}${tenant === undefined ? "" : ` of ${tenant}`}`,
  );
}

describe("an agent card with a long URL", () => {
  it("is decoded in time proportional to the length of the URL", () => {
    const ofLength = (length: number): object => ({
      name: "A",
      url: `https://a.example/${"/".repeat(length)}x`,
      protocolVersion: "0.3",
      preferredTransport: "JSONRPC",
    });
    const [short, long] = [ofLength(1000), ofLength(10_000)];
    const shortTime = processorTime(() => readCard(short, NEW));
    expect(processorTime(() => readCard(long, NEW), 3) / shortTime).toBeLessThan(40);
  });
});

describe("the versions of an agent card", () => {
  it.each([
    [
      "a card of the newest",
      {
        supportedInterfaces: [
          { url: "https://a.example/grpc", protocolBinding: "GRPC", protocolVersion: "1.0" },
          { url: "https://a.example/r", protocolBinding: "HTTP+JSON", protocolVersion: "1.0.1", tenant: "t" },
          { url: "https://a.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
        ],
      },
      NEW,
      [
        "1.0 GRPC https://a.example/grpc",
        "1.0 HTTP+JSON https://a.example/r of t",
        "0.3 JSONRPC https://a.example/a2a",
      ],
    ],
    [
      "one of two versions at once",
      {
        url: "https://a.example/a2a",
        protocolVersion: "0.3.0",
        preferredTransport: "JSONRPC",
        additionalInterfaces: [
          { url: "https://a.example/a2a", transport: "JSONRPC" },
          { url: "https://a.example", transport: "HTTP+JSON" },
        ],
        supportedInterfaces: [
          { url: "https://a.example/", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
          { url: "https://a.example/a2a/", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
        ],
      },
      NEW,
      ["1.0 JSONRPC https://a.example/", "0.3 JSONRPC https://a.example/a2a/", "0.3 HTTP+JSON https://a.example"],
    ],
    [
      "0.3 by its number",
      { url: "https://a.example/", protocolVersion: "0.3.0" },
      NEW,
      ["0.3 JSONRPC https://a.example/"],
    ],
    [
      "0.3 that tells 0.1 how to authenticate",
      { url: "https://a.example/", protocolVersion: "0.3.0", authentication: { schemes: ["Bearer"] } },
      OLD,
      ["0.3 JSONRPC https://a.example/", "0.1 JSONRPC https://a.example/"],
    ],
    [
      "0.2 by its number",
      { url: "https://a.example/", protocolVersion: "0.2.6" },
      OLD,
      ["0.2 JSONRPC https://a.example/"],
    ],
    ["0.2 by its members", { url: "https://a.example/", securitySchemes: {} }, NEW, ["0.2 JSONRPC https://a.example/"]],
    [
      "0.2 by what 0.1 may have as well",
      { url: "https://a.example/", defaultInputModes: ["text"] },
      NEW,
      ["0.2 JSONRPC https://a.example/", "0.1 JSONRPC https://a.example/"],
    ],
    [
      "0.2 by its members, at the early address",
      { url: "https://a.example/", securitySchemes: {} },
      OLD,
      ["0.2 JSONRPC https://a.example/", "0.1 JSONRPC https://a.example/"],
    ],
    [
      "none, at the address of later versions",
      { url: "https://a.example/" },
      NEW,
      ["0.2 JSONRPC https://a.example/", "0.1 JSONRPC https://a.example/"],
    ],
    [
      "none, at the early address",
      { url: "https://a.example/" },
      OLD,
      ["0.1 JSONRPC https://a.example/", "0.2 JSONRPC https://a.example/"],
    ],
    [
      "0.1 by its number",
      { url: "https://a.example/", protocolVersion: "0.1.0" },
      OLD,
      ["0.1 JSONRPC https://a.example/", "0.2 JSONRPC https://a.example/"],
    ],
    [
      "other names of bindings, and relative URLs",
      {
        supportedInterfaces: [
          { url: "/rpc", protocolBinding: "json-rpc", protocolVersion: "1" },
          { url: "rest", protocolBinding: "http_json" },
          { url: "https://a.example/x", protocolBinding: "urn:other:binding", protocolVersion: "1.0" },
        ],
      },
      "https://a.example/b/card.json",
      [
        "1.0 JSONRPC https://a.example/rpc",
        "1.0 HTTP+JSON https://a.example/b/rest",
        "1.0 urn:other:binding https://a.example/x",
      ],
    ],
  ])("are recognised: %s", (...[, members, from, expected]) => {
    expect(ways({ name: "A", version: "1", ...members }, from)).toEqual(expected);
  });

  it("requests cards in the newest version", () => {
    expect(CARD_VERSION).toBe(VERSIONS[0]);
  });
});

describe("the cards of this server", () => {
  const dialects = createDialects();
  const card: AgentCard = {
    name: "A",
    description: "B",
    version: "1.2.3",
    interfaces: dialects.interfaces("https://a.example"),
    capabilities: { streaming: true, extendedAgentCard: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: [{ id: "s", name: "S", description: "D", tags: ["t"] }],
    securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" }, who: { type: "http", scheme: "bearer" } },
    security: [{ key: [] }, { who: [] }],
  };

  it.each([undefined, ...VERSIONS])("are decoded in the format of %s", (version) => {
    const text = dialects.chooseCard(version).encodeCard(card);
    const { card: read, warnings } = readCard(JSON.parse(text), NEW);
    expect(warnings).toEqual([]);
    expect(read).toMatchObject({ name: "A", version: "1.2.3", security: [{}, {}], skills: [{ id: "s" }] });
    const own = card.interfaces.filter(({ protocolVersion }) => protocolVersion === version);
    expect(read.interfaces).toEqual(expect.arrayContaining(own));
    expect(Object.values(read.securitySchemes ?? {})).toEqual(Object.values(card.securitySchemes ?? {}));
  });

  it("are decoded at /.well-known/agent.json", () => {
    const text = dialects.chooseLegacyCard(undefined)?.encodeCard(card) ?? "";
    expect(ways(JSON.parse(text), OLD)).toEqual([
      "0.3 JSONRPC https://a.example/a2a",
      "0.3 HTTP+JSON https://a.example",
      "0.1 JSONRPC https://a.example/a2a",
    ]);
  });
});

describe("an invalid card", () => {
  it.each([
    ["no object", [], ["card"]],
    ["nothing", null, ["card"]],
    ["nothing in it", {}, ["name", "supportedInterfaces"]],
    ["no name", { url: "https://a.example/" }, ["name"]],
    ["no address", { name: "A", version: "1" }, ["supportedInterfaces"]],
    ["a name that is a number", { name: 5, url: "https://a.example/" }, ["name"]],
    ["interfaces that are no list", { name: "A", supportedInterfaces: {} }, ["supportedInterfaces"]],
    ["an interface that is a text", { name: "A", supportedInterfaces: ["x"] }, ["supportedInterfaces[0]"]],
    [
      "addresses that cannot be called",
      { name: "A", supportedInterfaces: [{ url: "" }, { url: "ftp://a" }, { url: "https://u:p@a.example/" }] },
      ["supportedInterfaces[0].url", "supportedInterfaces[1].url", "supportedInterfaces[2].url"],
    ],
    [
      "addresses of an older card that cannot be called",
      { name: "A", protocolVersion: "0.3.0", url: "x:", additionalInterfaces: [{ url: "x:" }, { url: "y:" }] },
      ["url", "additionalInterfaces[0].url", "additionalInterfaces[1].url"],
    ],
    ["a skill that is a text", { name: "A", url: "https://a.example/", skills: ["x"] }, ["skills[0]"]],
    [
      "parameters without end",
      { name: "A", url: "https://a.example/", capabilities: { extensions: [{ params: deep(200) }] } },
      ["capabilities.extensions[0].params"],
    ],
  ])("is refused with the names of the invalid fields: %s", (_what, value, fields) => {
    const error = caught(() => readCard(value, NEW));
    expect(error.code).toBe("invalid-agent-response");
    expect(error.violations.map(({ field }) => field)).toEqual(fields);
    for (const field of fields) expect(error.message).toContain(field);
  });

  it("yields warnings if the agent can be called all the same", () => {
    const { card, warnings } = readCard(
      {
        name: "A",
        supportedInterfaces: [
          { url: "nowhere", protocolBinding: "JSONRPC" },
          { url: "https://a.example/", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
      },
      undefined,
    );
    expect(card.interfaces).toHaveLength(1);
    expect(warnings.map(({ field }) => field)).toEqual([
      "supportedInterfaces[0].url",
      "version",
      "description",
      "capabilities",
      "skills",
    ]);
  });
});

function deep(levels: number): object {
  let value = {};
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

function caught(act: () => unknown): A2AError {
  try {
    act();
  } catch (error) {
    if (error instanceof A2AError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}
