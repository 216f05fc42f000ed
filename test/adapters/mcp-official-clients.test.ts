import type { Agent } from "palaver";
import { mcpAgent } from "palaver/mcp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OpenServer, openServer2025, openServer2026 } from "../../src/adapters/mcp/test/open-servers.ts";
import type { ClientLine, Peer, SeenTask, SendRequest } from "../peers/client-line.ts";
import { a2aJsV03 } from "../peers/clients/a2a-js-v0-3.ts";
import { a2aJsV1 } from "../peers/clients/a2a-js-v1.ts";
import { serveAgents, type TestServer } from "../seeds/test-server.ts";

// A real MCP server, written with the official SDK, behind `mcpAgent`, called by the official A2A clients.

interface World {
  readonly servers: readonly OpenServer[];
  readonly agents: readonly Agent[];
  readonly testServer: TestServer;
}

let world: World;
beforeAll(async () => {
  const servers = [await openServer2025(), await openServer2026()];
  const agents = await Promise.all(servers.map(({ url }, index) => mcpAgent({ url, id: `town-${2025 + index}` })));
  world = { servers, agents, testServer: await serveAgents(agents) };
});
afterAll(async () => {
  await world.testServer[Symbol.asyncDispose]();
  for (const agent of world.agents) await agent.close?.();
  for (const server of world.servers) await server[Symbol.asyncDispose]();
});

async function taskOf(peer: Peer, request: SendRequest): Promise<SeenTask> {
  const answer = await peer.send(request);
  if (answer.kind !== "task") throw new Error("The agent answered without a task.");
  return answer.task;
}

const call = (skillId: string, data: object = {}): SendRequest => ({
  content: [{ data: { ...data } as never }],
  metadata: { skillId },
});

const CELLS = [a2aJsV03, a2aJsV1].flatMap((line) =>
  (["JSONRPC", "HTTP+JSON"] as const).flatMap((binding) =>
    ["2025", "2026"].map((revision) => ({
      line,
      binding,
      revision,
      name: `${line.version} by ${binding}, MCP ${revision}`,
    })),
  ),
);

describe.each(CELLS)("the official client $name", ({ line, binding, revision }) => {
  const connected = (one: ClientLine): Promise<Peer> =>
    one.connect(`${world.testServer.of(`town-${revision}`)}/`, { binding, fetch });

  test("reads the card, and gets structured output, files, progress and failures of the tools", async () => {
    const peer = await connected(line);
    expect(peer.card.skills).toEqual(expect.arrayContaining(["add", "book_table", "pay"]));
    const added = await taskOf(peer, call("add", { a: 1, b: 2 }));
    expect([added.state, added.artifacts[0]?.parts]).toMatchObject(["completed", [{ data: { sum: 3 } }]]);
    const pictures = await taskOf(peer, call("picture"));
    expect(pictures.artifacts.flatMap(({ parts }) => parts)).toMatchObject([
      { text: "Here" },
      { mediaType: "image/png" },
      { url: "https://town.example/map.pdf" },
    ]);
    const broken = await taskOf(peer, call("broken"));
    expect([broken.state, broken.message?.parts[0]]).toMatchObject(["failed", { text: "no batteries" }]);
    const seen: string[] = [];
    for await (const event of peer.stream(call("report"))) seen.push(JSON.stringify(event));
    expect(seen.some((event) => event.includes("Half done"))).toBe(true);
    expect(seen.some((event) => event.includes("Report."))).toBe(true);
  });

  test("is asked by the tool, and answers", async () => {
    const peer = await connected(line);
    const asked = await taskOf(peer, call("book_table", { restaurant: "Krone" }));
    expect([asked.state, asked.message?.parts[0]]).toMatchObject(["input-required", { text: "For how many guests?" }]);
    const { id: taskId, contextId } = asked;
    const booked = await taskOf(peer, { content: [{ data: { guests: 4 } }], taskId, contextId });
    expect([booked.state, booked.artifacts[0]?.parts]).toMatchObject([
      "completed",
      [{ text: "Booked a table at Krone for 4." }],
    ]);
  });
});
