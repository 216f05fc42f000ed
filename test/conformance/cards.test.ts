import { type Agent, agent, createServer, type ServerOptions } from "palaver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveAgents } from "../fixtures/nodes/serve-agents.ts";
import { checkCard } from "./card-shapes.ts";
import { accepted, type DialectClient, taskOf, text } from "./dialect-client.ts";
import { jsonRpc0_1 } from "./dialect-clients/v0-1-jsonrpc.ts";
import { jsonRpc0_2 } from "./dialect-clients/v0-2-jsonrpc.ts";
import { jsonRpc0_3 } from "./dialect-clients/v0-3-jsonrpc.ts";
import { restProto0_3 } from "./dialect-clients/v0-3-rest.ts";
import { jsonRpc1_0 } from "./dialect-clients/v1-0-jsonrpc.ts";
import { rest1_0 } from "./dialect-clients/v1-0-rest.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { WAITING } from "./every-dialect.ts";
import { exchange, type HttpAnswer, jsonOf, typeOf } from "./http.ts";
import { outputOf } from "./neutral.ts";

/** Every card declares it. */
const CALLS = "urn:palaver:extension:calls";

const RICH = agent({
  id: "rich",
  name: "Rich",
  description: "Declares all there is.",
  version: "2.1.0",
  provider: { organization: "Example", url: "https://example.org" },
  iconUrl: "https://example.org/icon.png",
  documentationUrl: "https://example.org/docs",
  inputModes: ["text/plain", "image/*"],
  outputModes: ["text/plain"],
  extensions: [{ uri: "https://example.org/x", description: "X.", required: false, params: { deep: [1] } }],
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "X-Key", description: "A key." },
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    oauth: {
      type: "oauth2",
      oauth2MetadataUrl: "https://example.org/oauth",
      flows: {
        authorizationCode: {
          authorizationUrl: "https://example.org/authorize",
          tokenUrl: "https://example.org/token",
          scopes: { read: "Reads." },
        },
        clientCredentials: { tokenUrl: "https://example.org/token", scopes: {} },
      },
    },
    oidc: { type: "openIdConnect", openIdConnectUrl: "https://example.org/oidc" },
    tls: { type: "mutualTLS" },
  },
  security: [{ bearer: [] }, { key: [], oauth: ["read"] }],
  skills: [
    {
      id: "one",
      name: "One",
      description: "Does one thing.",
      tags: ["a", "b"],
      examples: ["Do it"],
      inputModes: ["text/plain"],
      outputModes: ["text/plain"],
      security: [{ oauth: ["read"] }],
    },
  ],
  extendedCard: { skills: [{ id: "two", name: "Two", description: "Does another.", tags: ["c"] }] },
  run: async (task) => task.text,
});

const POOR = agent({
  id: "poor",
  name: "Poor",
  description: "Declares nothing.",
  version: "1.0.0",
  run: async (task) => task.text,
});

/** The members that single tests check. */
interface Card {
  readonly url: string;
  readonly supportedInterfaces: ReadonlyArray<Record<"url" | "protocolBinding" | "protocolVersion", string>>;
}

interface Hosting extends AsyncDisposable {
  readonly url: string;
  card(version?: string, path?: string, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer>;
  read(version?: string, path?: string): Promise<Card>;
  /** The card at the address used before 0.3. */
  readonly oldCard: Hosting["card"];
  readonly readOld: Hosting["read"];
}

async function host(agents: readonly Agent[], options: ServerOptions = {}): Promise<Hosting> {
  const { url, close } = await serveAgents(agents, {
    port: 0,
    host: "127.0.0.1",
    store: "memory:",
    drainTimeout: 0,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    blockingDefault: WAITING,
    authenticate: ({ headers }) =>
      headers.get("authorization") === null ? undefined : { id: "alice", anonymous: false },
    ...options,
  });
  const cardAt =
    (name: string): Hosting["card"] =>
    (version, path = "", headers = {}) =>
      exchange({
        method: "GET",
        url: `${url}${path}/.well-known/${name}`,
        headers: { ...(version !== undefined && { "a2a-version": version }), ...headers },
      });
  const [card, oldCard] = [cardAt("agent-card.json"), cardAt("agent.json")];
  return {
    url,
    card,
    read: async (version, path) => jsonOf(await card(version, path)),
    oldCard,
    readOld: async (version, path) => jsonOf(await oldCard(version, path)),
    [Symbol.asyncDispose]: close,
  };
}

let hosting: Hosting;
beforeAll(async () => {
  hosting = await host([RICH, POOR]);
});
afterAll(() => hosting[Symbol.asyncDispose]());

describe("a card", () => {
  it.each(["1.0", "0.3"] as const)("of %s has only members of that version", async (version) => {
    checkCard(version, await hosting.read(version));
    checkCard(version, await hosting.read(version, "/agents/rich"));
    checkCard(version, await hosting.read(version, "/agents/poor"));
    checkCard(version, await hosting.read(`${version}.7`));
  });

  it("of 1.0 has everything that the agent declares", async () => {
    expect(await hosting.read("1.0")).toMatchObject({
      name: "Rich",
      version: "2.1.0",
      provider: { organization: "Example", url: "https://example.org" },
      capabilities: {
        streaming: true,
        pushNotifications: true,
        extendedAgentCard: true,
        extensions: [{ uri: "https://example.org/x", description: "X.", params: { deep: [1] } }, { uri: CALLS }],
      },
      securitySchemes: {
        key: { apiKeySecurityScheme: { location: "header", name: "X-Key", description: "A key." } },
        bearer: { httpAuthSecurityScheme: { scheme: "bearer", bearerFormat: "JWT" } },
        oauth: {
          oauth2SecurityScheme: {
            oauth2MetadataUrl: "https://example.org/oauth",
            flows: { authorizationCode: { tokenUrl: "https://example.org/token", scopes: { read: "Reads." } } },
          },
        },
        oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://example.org/oidc" } },
        tls: { mtlsSecurityScheme: {} },
      },
      securityRequirements: [
        { schemes: { bearer: { list: [] } } },
        { schemes: { key: { list: [] }, oauth: { list: ["read"] } } },
      ],
      defaultInputModes: ["text/plain", "image/*"],
      skills: [{ id: "one", examples: ["Do it"], securityRequirements: [{ schemes: { oauth: { list: ["read"] } } }] }],
    });
  });

  it("of 0.3 has everything that the agent declares", async () => {
    const { url } = hosting;
    expect(await hosting.read("0.3")).toMatchObject({
      name: "Rich",
      protocolVersion: "0.3.0",
      url: `${url}/a2a`,
      preferredTransport: "JSONRPC",
      additionalInterfaces: expect.arrayContaining([
        { url: `${url}/a2a`, transport: "JSONRPC" },
        { url, transport: "HTTP+JSON" },
      ]),
      supportsAuthenticatedExtendedCard: true,
      capabilities: { streaming: true, pushNotifications: true },
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "X-Key", description: "A key." },
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        oauth: { type: "oauth2", flows: { authorizationCode: {}, clientCredentials: {} } },
        oidc: { type: "openIdConnect" },
        tls: { type: "mutualTLS" },
      },
      security: [{ bearer: [] }, { key: [], oauth: ["read"] }],
      skills: [{ id: "one", security: [{ oauth: ["read"] }] }],
    });
  });

  it("for a request without a version, or with an unsupported one, is valid for readers of 1.0 and 0.3", async () => {
    const [newer, older] = [await hosting.read("1.0"), await hosting.read("0.3")];
    for (const version of [undefined, "", "7.0", "nonsense"]) {
      const hybrid = await hosting.read(version);
      expect(hybrid).toMatchObject(newer);
      expect(hybrid).toMatchObject(older);
      expect(Object.keys(hybrid).toSorted()).toEqual(
        [...new Set([...Object.keys(newer), ...Object.keys(older)])].toSorted(),
      );
    }
  });

  it("for a request without a version has only members of 1.0 with card: strict", async () => {
    await using strict = await host([RICH], { card: "strict" });
    const [none, newer] = [await strict.card(), await strict.card("1.0")];
    expect(none.text).toBe(newer.text);
    checkCard("1.0", JSON.parse(none.text));
    checkCard("0.3", await strict.read("0.3"));
  });

  it("can be requested with the version in the query", async () => {
    const { url } = hosting;
    const target = `${url}/.well-known/agent-card.json?A2A-Version=0.3`;
    checkCard("0.3", JSON.parse((await exchange({ method: "GET", url: target, headers: {} })).text));
  });

  it("has a Vary header, and an ETag for each variant", async () => {
    const answers = await Promise.all(["1.0", "0.3", undefined].map((version) => hosting.card(version)));
    for (const answer of answers) {
      expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
      expect(answer.headers.get("vary")?.toLowerCase()).toContain("a2a-version");
      expect(answer.headers.get("cache-control")).toMatch(/max-age=\d+/);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    }
    const [newer, older] = answers.map(({ headers }) => headers.get("etag") ?? "");
    expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(3);
    const same = await hosting.card("1.0", "", { "if-none-match": newer ?? "" });
    expect([same.status, same.text]).toEqual([304, ""]);
    expect((await hosting.card("1.0", "", { "if-none-match": older ?? "" })).status).toBe(200);
  });

  it.each(["1.0", "0.3", "0.2", "0.1"] as const)("of %s is the same at agent.json", async (version) => {
    for (const path of ["", "/agents/rich", "/agents/poor"]) {
      const card = await hosting.readOld(version, path);
      checkCard(version, card);
      expect(card).toEqual(await hosting.read(version, path));
    }
  });

  it("at agent.json is valid for readers of 0.1, 0.2 and 0.3 that send no version", async () => {
    for (const version of [undefined, "", "7.0"]) {
      const [rich, poor] = [await hosting.readOld(version), await hosting.readOld(version, "/agents/poor")];
      checkCard("union", rich);
      checkCard("union", poor);
      expect(rich).toMatchObject(await hosting.read("0.3"));
      expect(rich).toMatchObject(await hosting.read("0.1"));
      expect(rich).toHaveProperty("authentication.schemes", ["Bearer", "ApiKey", "OAuth2"]);
      expect(poor).not.toHaveProperty("authentication");
    }
    const answers = await Promise.all(["0.2", "0.1", undefined].map((version) => hosting.oldCard(version)));
    expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(3);
    for (const { status, headers } of answers) {
      expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
      expect(headers.get("vary")?.toLowerCase()).toContain("a2a-version");
    }
  });

  it("of 0.1 and 0.2 has everything that the agent declares and the version can express", async () => {
    const shared = { name: "Rich", version: "2.1.0", url: `${hosting.url}/a2a`, defaultOutputModes: ["text/plain"] };
    const card = await hosting.readOld("0.2");
    expect(card).toMatchObject({
      ...shared,
      supportsAuthenticatedExtendedCard: true,
      preferredTransport: "JSONRPC",
      security: [{ bearer: [] }, { key: [], oauth: ["read"] }],
      capabilities: { extensions: [{ uri: "https://example.org/x" }, { uri: CALLS }] },
      securitySchemes: { oauth: { type: "oauth2", flows: { authorizationCode: {}, clientCredentials: {} } } },
    });
    expect(card).not.toHaveProperty("securitySchemes.tls");
    expect(await hosting.readOld("0.1")).toMatchObject({
      ...shared,
      authentication: {
        schemes: ["Bearer", "ApiKey", "OAuth2"],
        credentials: expect.stringContaining("X-Key"),
      },
      skills: [{ id: "one", examples: ["Do it"], tags: ["a", "b"] }],
    });
  });

  const CLIENTS: Readonly<Record<string, DialectClient>> = {
    "JSONRPC 1.0": jsonRpc1_0,
    "HTTP+JSON 1.0": rest1_0,
    "JSONRPC 0.3": jsonRpc0_3,
    "HTTP+JSON 0.3": restProto0_3,
    "JSONRPC 0.2": jsonRpc0_2,
    "JSONRPC 0.1": jsonRpc0_1,
  };

  it("lists every interface, and each one works as declared", async () => {
    for (const path of ["", "/agents/poor"]) {
      const { supportedInterfaces } = await hosting.read("1.0", path);
      for (const [name, dialectClient] of Object.entries(CLIENTS)) {
        const listed = supportedInterfaces.filter(
          ({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}` === name,
        );
        // Clients append the last path segment to the agent's address themselves.
        const bases = listed.map(({ url }) => url.replace(/\/(a2a)?$/, ""));
        expect([name, bases]).toEqual([name, [`${hosting.url}${path}`]]);
        const caller = dialectClient.at(bases[0] ?? "");
        expect(outputOf(await taskOf(caller.send(text("hi"), { wait: true })))).toBe("hi");
      }
    }
  });

  it("has the public URL of the server", async () => {
    await using outside = await host([POOR], { publicUrl: "https://agents.example.org/base/" });
    const card = await outside.read("1.0");
    expect(card.supportedInterfaces.map(({ url }) => url)).toEqual(
      expect.arrayContaining(["https://agents.example.org/base/", "https://agents.example.org/base/a2a"]),
    );
    expect((await outside.read("0.3", "/agents/poor")).url).toBe("https://agents.example.org/base/agents/poor/a2a");
  });

  it("with capabilities that the agent lacks prevents the start of the server", async () => {
    const promising =
      (capabilities: object, options: ServerOptions = {}) =>
      () =>
        createServer(agent({ name: "P", description: "p", version: "1", capabilities, run: async () => "" }), {
          store: "memory:",
          port: 0,
          ...options,
        });
    expect(promising({ pushNotifications: true }, { push: false })).toThrow(/pushNotifications/);
    expect(promising({ extendedAgentCard: true })).toThrow(/extendedAgentCard/);
  });
});

describe("an extended card", () => {
  const askable = DIALECT_CLIENTS.filter(({ rules }) => rules.undeclaredExtendedCard !== undefined);
  it.each(askable)("has the form of the request's version: $dialect", async (dialectClient) => {
    await using testServer = await host([RICH], {
      restStyle: dialectClient.dialect === "0.3/rest-json" ? "json" : "proto",
    });
    const card = await accepted(dialectClient.at(testServer.url, { token: "alice" }).extendedCard());
    // The proto JSON of 0.3 wraps schemes where the specification text has flat schemes.
    // So does gRPC, which also leaves out fields with default values.
    if (dialectClient.dialect !== "0.3/rest-proto" && dialectClient.binding !== "grpc")
      checkCard(dialectClient.version, card);
    expect(card).toMatchObject({ name: "Rich", skills: [{ id: "two" }] });
  });
});
