import { agent, createServer } from "palaver";
import { mcpAgent } from "palaver/mcp";
import {
  type A2AProtocolExtension,
  buildAgentCard,
  buildAgentCardForAgent,
  clearMcpTools,
  registerMcpTools,
} from "palaver/plain";
import { afterEach, expect, it, vi } from "vitest";
import { openServer2026 } from "../../../src/adapters/mcp/test/open-servers.ts";
import { seed } from "./seed.ts";

const BASE = "https://agent.example.com";
const PROTOCOLS: readonly A2AProtocolExtension[] = [
  { protocol: "MCP", description: "Tools.", endpoint: `${BASE}/mcp` },
];

/** The registered tools of the program in the seed. */
const TOOLS = [
  { name: "send_message", description: "Sends a message to another agent." },
  { name: "github_list_prs", description: "Lists open pull requests." },
  { name: "web_search", annotations: { readOnlyHint: true } },
  { name: "grant_credits", description: "Grants credits." },
];

function register(): void {
  registerMcpTools(TOOLS, {
    name: "Crow",
    version: "1.2.3",
    defaultTools: ["send_message", "github_list_prs", "web_search"],
    supportedProtocols: PROTOCOLS,
  });
}

afterEach(() => {
  clearMcpTools();
  vi.unstubAllEnvs();
});

it(
  seed.example(
    "Invariants › 12 MCP tools as skills",
    "all registered tools, with humanised names and tags by category",
  ),
  async () => {
    register();
    const card = await buildAgentCard(BASE);
    expect(card).toMatchObject({ name: "Crow", version: "1.2.3", url: BASE, supportedProtocols: PROTOCOLS });
    expect(card.skills.map(({ id, name, tags }) => [id, name, tags])).toEqual([
      ["send_message", "Send Message", ["messaging"]],
      ["github_list_prs", "GitHub List PRs", ["code"]],
      ["web_search", "Web Search", ["search", "web", "read-only"]],
      ["grant_credits", "Grant Credits", ["finance"]],
    ]);
    expect(card.skills[0]).toMatchObject({
      description: "Sends a message to another agent.",
      inputModes: ["application/json"],
      outputModes: ["application/json", "text/plain"],
    });
    expect(card.skills[2]?.description).toBe("The tool web_search.");
  },
);

it(
  seed.example("Invariants › 12 MCP tools as skills › mcpAgent", "the card of an agent made of a real MCP server"),
  async () => {
    await using town = await openServer2026();
    const tools = await mcpAgent({ url: town.url, id: "town" });
    const server = createServer([tools], { store: "memory:", drainTimeout: 0 });
    try {
      const card = await buildAgentCard(BASE, { server });
      expect(card.skills.map(({ id }) => id)).toEqual(expect.arrayContaining(["add", "book_table", "pay"]));
      expect(card.skills.find(({ id }) => id === "github_list_prs")).toMatchObject({
        name: "GitHub List PRs",
        tags: ["code"],
      });
      // The server tells of another tool; the card follows.
      town.addTool("news_search");
      await expect
        .poll(async () => (await buildAgentCard(BASE, { server })).skills.map(({ name }) => name))
        .toContain("News Search");
    } finally {
      await server.close();
      await tools.close?.();
    }
  },
);

it(
  seed.example(
    "Invariants › 14 mcpToolPermissions",
    "only the permitted tools are skills; without permissions, the default set",
  ),
  async () => {
    register();
    const ids = async (permissions: readonly string[] | null | undefined) => {
      const card = await buildAgentCardForAgent({ id: "a1", name: "Ada", mcpToolPermissions: permissions }, BASE);
      expect(card).toMatchObject({ name: "Ada", url: `${BASE}/agents/a1` });
      return card.skills.map(({ id }) => id);
    };
    expect(await ids(["grant_credits", "no_such_tool"])).toEqual(["grant_credits"]);
    expect(await ids([])).toEqual([]);
    for (const none of [null, undefined])
      expect(await ids(none)).toEqual(["send_message", "github_list_prs", "web_search"]);
  },
);

it(
  seed.example("Dependencies › getPersona and getAgentBundles", "enrich the card of an agent from the db given"),
  async () => {
    register();
    const db = {
      getPersona: (id: string) =>
        id === "a1" ? { archetype: "mentor", background: "Knows birds.", traits: ["calm", "kind"] } : null,
      getAgentBundles: async (id: string) =>
        id === "a1" ? [{ id: "b1", name: "Treasurer", description: "Handles money.", tools: ["grant_credits"] }] : [],
    };
    const ada = { id: "a1", name: "Ada", description: "An agent.", mcpToolPermissions: ["web_search"] };
    const card = await buildAgentCardForAgent(ada, BASE, db);
    expect(card.description).toBe("An agent. Archetype: mentor. Knows birds. Traits: calm, kind.");
    expect(card.skills.map(({ id, name, tags }) => [id, name, tags[0]])).toEqual([
      ["web_search", "Web Search", "search"],
      ["grant_credits", "Grant Credits", "finance"],
      ["bundle-b1", "Treasurer", "skill-bundle"],
    ]);
    const bob = await buildAgentCardForAgent({ id: "a2", name: "Bob" }, BASE, db);
    expect([bob.description, bob.skills.length]).toEqual(["Bob", 3]);
  },
);

it(
  seed.example("Configuration › PORT and BIND_HOST › buildAgentCard", "make up the URL of a card without a base URL"),
  async () => {
    register();
    vi.stubEnv("PORT", undefined);
    vi.stubEnv("BIND_HOST", undefined);
    expect((await buildAgentCard()).url).toBe("http://127.0.0.1:3000");
    vi.stubEnv("PORT", "8080");
    vi.stubEnv("BIND_HOST", "192.168.1.7");
    expect((await buildAgentCard()).url).toBe("http://192.168.1.7:8080");
    expect(
      (await buildAgentCardForAgent(agent({ id: "x", name: "X", description: "X", version: "1", run: async () => "" })))
        .url,
    ).toBe("http://192.168.1.7:8080/agents/x");
  },
);
