import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { json, ScriptedServer } from "./lying-server.ts";
import { openSite, type Site } from "./own-server.ts";

let site: Site | undefined;
let server: ScriptedServer | undefined;
afterEach(async () => {
  await site?.close();
  await server?.close();
  site = server = undefined;
});

describe("an agent below /agents", () => {
  it.each(["/agents/versatile", "/agents/versatile/"])("is found at %s", async (path) => {
    site = await openSite();
    const agent = await connect(new URL(path, site.url));
    expect(agent.interface.url).toContain("/agents/versatile");
  });

  it.each(["agent-card.json", "agent.json"])(
    "is found by a client that resolves .well-known/%s against its address without a trailing slash",
    async (name) => {
      site = await openSite();
      const wrong = new URL(`.well-known/${name}`, `${site.url}/agents/versatile`);
      expect(wrong.pathname).toBe(`/agents/.well-known/${name}`);
      const response = await fetch(wrong);
      expect(response.status).toBe(404);
      expect(await response.text()).toContain(`/agents/{id}/.well-known/${name}`);
    },
  );
});

it("the card of /x/a2a/{id} is found at /x/.well-known/{id}/agent-card.json", async () => {
  server = await ScriptedServer.start((response, { url }) => {
    if (url !== "/x/.well-known/echo/agent-card.json") return void response.writeHead(404).end();
    const at = { url: `${server?.url}/x/a2a/echo`, preferredTransport: "JSONRPC", protocolVersion: "0.3.0" };
    json(
      response,
      JSON.stringify({ name: "Echo", description: "", version: "1", capabilities: {}, skills: [], ...at }),
    );
  });
  const agent = await connect(`${server.url}/x/a2a/echo`, { cache: false });
  expect(agent.card.name).toBe("Echo");
});
