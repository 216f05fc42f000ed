import { expect, it } from "vitest";
import { at, get, post } from "../exchange.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

it(
  seed.example(
    "7. agent/authenticatedExtendedCard",
    "this name works like the official one: the whole card for authenticated callers, -32007 if there is none",
  ),
  async () => {
    const skill = (id: string) => ({ id, name: id, description: "One of two.", tags: ["x"] });
    const agent = scripted(async () => "done", {
      skills: [skill("public")],
      extendedCard: { description: "Does more than it says.", skills: [skill("public"), skill("private")] },
    });
    await using testServer = await serveAgents(agent, {
      authenticate: ({ headers }) =>
        headers.get("authorization") === "Bearer alice" ? { id: "alice", anonymous: false } : undefined,
    });
    const open = await get(`${testServer.url}/.well-known/agent-card.json`, { "a2a-version": "0.3" });
    expect(at(open.json, "supportsAuthenticatedExtendedCard")).toBe(true);
    expect(at(open.json, "skills")).toHaveLength(1);
    const known = { authorization: "Bearer alice" };
    for (const method of ["agent/authenticatedExtendedCard", "agent/getAuthenticatedExtendedCard"]) {
      const card = resultOf(await post(testServer.url, rpcRequest("req-007", method), known), "req-007");
      expect(card).toMatchObject({ name: "Scripted", description: "Does more than it says.", url: ID_URL });
      expect(at(card, "skills")).toMatchObject([{ id: "public" }, { id: "private" }]);
      const stranger = await post(testServer.url, rpcRequest("req-007", method));
      expect([stranger.status, at(stranger.json, "id")]).toEqual([401, "req-007"]);
    }
    await using plain = await serveScript(async () => "done");
    const none = await post(plain.url, rpcRequest("req-007", "agent/authenticatedExtendedCard"));
    expect(errorOf(none, "req-007")).toMatchObject({ code: -32007 });
  },
);

const ID_URL: unknown = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/);
