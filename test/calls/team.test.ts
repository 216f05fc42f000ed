import { expect, test } from "vitest";
import { z } from "zod";
import example from "../../examples/team.ts";
import { agentTools } from "../../src/adapters/models/agent-tools.ts";
import { modelAgent } from "../../src/adapters/models/model-agent.ts";
import { openModelServer } from "../../src/adapters/models/test/model-server.ts";
import { skill, team } from "../../src/index.ts";
import { callRelationsOf } from "../../src/protocol/calls/call-tree.ts";
import { agent, textOfTask, World } from "./world.ts";

test("the example has a router, a pipeline and parallel calls", async () => {
  await using world = new World(example);
  const written = await world.run("reception", "tea");
  expect(textOfTask(written)).toBe("What is tea? It depends.\nWhy tea? It depends.\nHow tea? It depends.\n");
  expect(callRelationsOf(written.metadata)?.usage).toEqual({ outputTokens: "What is teaWhy teaHow tea".length });
  expect(textOfTask(await world.run("reception", "Judge me!"))).toBe("length: fine\ntone: too loud");
});

test("a team without members, or a router that picks nobody, is refused", async () => {
  const definition = { name: "T", description: "T", version: "1" };
  expect(() => team({ ...definition, pattern: "pipeline", agents: {} })).toThrow("at least one agent");
  const lost = team({ ...definition, id: "lost", pattern: "router", agents: { a: "a" }, pick: () => "b" });
  await using world = new World([lost]);
  expect((await world.run("lost", "x")).status.state).toBe("failed");
});

test("a skill types the message, and a schema the result", async () => {
  const add = skill({
    ...{ id: "add", name: "Add", description: "Adds.", tags: [] },
    input: z.object({ a: z.number(), b: z.number() }),
    run: async (task) => ({ sum: task.data.a + task.data.b }),
  });
  const adder = agent("adder", undefined, { skills: [add] });
  const caller = agent("caller", async (task) => {
    const { data } = await task.call("adder", { a: 1, b: 2 }, { skill: add, output: z.object({ sum: z.number() }) });
    const wrong: unknown = await task
      .call("adder", { a: 1, b: 2 }, { skill: add, output: z.object({ total: z.number() }) })
      .catch((error: unknown) => error);
    return `${data.sum + 1} ${(wrong as { code: string }).code}`;
  });
  await using world = new World([caller, adder]);
  expect(textOfTask(await world.run("caller", "go"))).toBe("4 call-invalid-result");
});

test("a model calls other agents as tools, and reads why a call was refused", async () => {
  await using models = await openModelServer((messages) => {
    const results = messages.filter(({ role }) => role === "tool");
    const use = (name: string) => ({
      id: `${name}-${results.length}`,
      name,
      input: JSON.stringify({ message: "two apples" }),
    });
    if (results.length === 0) return { text: [""], calls: [use("shop")] };
    if (results.length === 1) return { text: [""], calls: [use("self")] };
    return { text: [results.map(({ content }) => String(content)).join(" | ")] };
  });
  const shop = agent("shop", async (task) => `sold ${task.text}`);
  const buyer = modelAgent({
    ...{ id: "buyer", name: "Buyer", description: "Buys.", version: "1", model: models.model },
    tools: agentTools({
      shop: { agent: "shop", description: "Sells fruit." },
      self: { agent: "buyer", description: "Buys." },
    }),
  });
  await using world = new World([buyer, shop]);
  const text = textOfTask(await world.run("buyer", "Buy."));
  expect(text).toContain("sold two apples");
  expect(text).toContain("circle");
});
