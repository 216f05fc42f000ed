import { A2AError, type Agent, agent, type ServerOptions } from "palaver";
import { expect, it } from "vitest";
import { at, get, textAt } from "../exchange.ts";
import { scripted, serveAgents, type TestServer } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const JSON_AND_TEXT = ["application/json", "text/plain"];

/** The sample card without its address. */
const SAMPLE = {
  name: "GeoSpatial Route Planner Agent",
  description: "Plans routes and draws maps.",
  provider: { organization: "Example Geo Services Inc.", url: "https://www.examplegeoservices.com" },
  iconUrl: "https://georoute-agent.example.com/icon.png",
  version: "1.2.0",
  documentationUrl: "https://docs.examplegeoservices.com/georoute-agent/api",
  capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false },
  securitySchemes: {
    google: {
      type: "openIdConnect",
      openIdConnectUrl: "https://accounts.google.com/.well-known/openid-configuration",
    },
  },
  security: [{ google: ["openid", "profile", "email"] }],
  defaultInputModes: JSON_AND_TEXT,
  defaultOutputModes: ["application/json", "image/png"],
  skills: [
    {
      id: "route-optimizer-traffic",
      name: "Traffic-Aware Route Optimizer",
      description: "Finds the best way between places.",
      tags: ["maps", "routing", "navigation", "directions", "traffic"],
      examples: ["Plan a route to the airport.", '{"preferences": ["avoid_ferries"]}'],
      inputModes: JSON_AND_TEXT,
      outputModes: ["application/json", "application/vnd.geo+json", "text/html"],
    },
    {
      id: "custom-map-generator",
      name: "Personalized Map Generator",
      description: "Draws maps to order.",
      tags: ["maps", "customization", "visualization", "cartography"],
      examples: ["Draw my road trip."],
      inputModes: ["application/json"],
      outputModes: ["image/png", "image/jpeg", "application/json", "text/html"],
    },
  ],
};

const EXTRA_SKILL = { id: "fleet", name: "Fleet planner", description: "For customers only.", tags: ["maps"] };

function planner(): Agent {
  return agent({
    card: SAMPLE,
    extendedCard: { skills: [...SAMPLE.skills, EXTRA_SKILL] },
    run: async () => "Turn left",
  });
}

/** Authenticates Alice by her token, and Mallory, who has no permissions. */
const authenticate: NonNullable<ServerOptions["authenticate"]> = ({ headers }) => {
  const token = headers.get("authorization");
  if (token === "Bearer mallory") throw new A2AError("permission-denied", "Not you");
  if (token !== "Bearer alice") throw new A2AError("unauthenticated", "Say who you are");
  return { id: "alice", anonymous: false };
};

const servePlanner = (options: ServerOptions): Promise<TestServer> =>
  serveAgents(planner(), { authenticate, ...options });

/** The address of the extended card, from the public card. */
async function extendedCardUrl({ url }: TestServer): Promise<string> {
  const card = await get(`${url}/.well-known/agent.json`);
  return new URL(`${textAt(card.json, "url")}/../agent/authenticatedExtendedCard`).href;
}

it(
  seed.example(
    "4.3. Client/User Identity › agent card",
    "the card declares the schemes in the format of this version, and in the older format too",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      const bearer = { type: "http", scheme: "bearer" } as const;
      const secured = scripted(async () => "done", { securitySchemes: { bearer }, security: [{ bearer: [] }] });
      await using testServer = await serveAgents(secured, { authenticate, ...options });
      const { json } = await get(`${testServer.url}/.well-known/agent.json`);
      expect(json).toMatchObject({
        securitySchemes: { bearer },
        security: [{ bearer: [] }],
        authentication: { schemes: ["Bearer"] },
      });
    }
  },
);

it(
  seed.example(
    "5.3. Recommended Location",
    "the card is at /.well-known/agent.json, and its URL answers the methods of this version",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveAgents(
        scripted(async () => "done"),
        options,
      );
      const card = await get(`${testServer.url}/.well-known/agent.json`);
      expect([card.status, card.headers.get("content-type")]).toEqual([200, "application/json"]);
      const message = { role: "user", parts: [{ kind: "text", text: "Hello" }], messageId: "m" };
      const answer = await fetch(textAt(card.json, "url"), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params: { message } }),
      });
      expect(at(await answer.json(), "result.status.state")).toBe("completed");
    }
  },
);

it(
  seed.example(
    "5.6. Sample Agent Card",
    "everything declared is served, with the members that later editions of this version require",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await servePlanner(options);
      const { json } = await get(`${testServer.url}/.well-known/agent.json`);
      expect(json).toMatchObject({ ...SAMPLE, supportsAuthenticatedExtendedCard: true });
      expect(at(json, "skills")).toEqual(SAMPLE.skills);
      expect(textAt(json, "url").startsWith(testServer.url)).toBe(true);
      expect(textAt(json, "protocolVersion")).toMatch(/^0\.\d+\.\d+$/);
      expect(at(json, "preferredTransport")).toBe("JSONRPC");
    }
  },
);

it(
  seed.example(
    "9.1. Fetching Authenticated Extended Agent Card › 1 public card",
    "it is public, declares an extended card, and declares the authentication for it",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await servePlanner(options);
      const { status, json } = await get(`${testServer.url}/.well-known/agent.json`);
      expect(status).toBe(200);
      expect(json).toMatchObject({
        supportsAuthenticatedExtendedCard: true,
        securitySchemes: SAMPLE.securitySchemes,
        security: SAMPLE.security,
      });
      expect(at(json, "skills")).toHaveLength(2);
    }
  },
);

it(
  seed.example(
    "9.1. Fetching Authenticated Extended Agent Card › 4 extended card",
    "GET next to the card's URL returns the whole card",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await servePlanner(options);
      const card = await get(await extendedCardUrl(testServer), { authorization: "Bearer alice" });
      expect([card.status, card.headers.get("content-type")]).toEqual([200, "application/json"]);
      expect(card.json).toMatchObject({ name: SAMPLE.name, url: expect.stringContaining(testServer.url) });
      expect(at(card.json, "skills")).toEqual([...SAMPLE.skills, EXTRA_SKILL]);
    }
  },
);

it(seed.example("7.10. agent/authenticatedExtendedCard › 401", "a caller without credentials gets 401"), async () => {
  for (const options of EITHER_WAY) {
    await using testServer = await servePlanner(options);
    const { status, headers, text } = await get(await extendedCardUrl(testServer));
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).not.toBeNull();
    expect(text).not.toContain(EXTRA_SKILL.name);
  }
});

it(
  seed.example("7.10. agent/authenticatedExtendedCard › 403", "an authenticated caller without permission gets 403"),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await servePlanner(options);
      const { status, text } = await get(await extendedCardUrl(testServer), { authorization: "Bearer mallory" });
      expect(status).toBe(403);
      expect(text).not.toContain(EXTRA_SKILL.name);
    }
  },
);

it(
  seed.example("7.10. agent/authenticatedExtendedCard › 404", "an agent without an extended card answers 404"),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveAgents(
        scripted(async () => "done"),
        { authenticate, ...options },
      );
      const { status } = await get(await extendedCardUrl(testServer), { authorization: "Bearer alice" });
      expect(status).toBe(404);
    }
  },
);
