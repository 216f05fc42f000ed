import { expect, test } from "vitest";
import type { TaskContext } from "../../engine/agent/agent.ts";
import { tool } from "./tool.ts";
import { collectTools, filterTools } from "./tool-provider.ts";

// Safe cast: the tools of these tests do not look at their task.
const task = {} as TaskContext;
const noop = tool({ description: "Nothing.", execute: () => null });

test("a filter keeps the tools that it names, and changes what it says", async () => {
  const provider = filterTools(
    { a: noop, b: noop, c: noop },
    { only: ["a", "b"], except: ["b"], prefix: "x_", timeout: 5, approve: true },
  );
  expect(Object.keys(await provider(task))).toEqual(["x_a"]);
  expect((await provider(task))["x_a"]).toMatchObject({ timeout: 5, approve: true });
});

test("a filter keeps a tool with the name of a member of every object as a tool", async () => {
  const hostile = Object.fromEntries([["__proto__", noop]]);
  const tools = await collectTools([filterTools(hostile, {})], task);
  expect([...tools.keys()]).toEqual(["__proto__"]);
  expect("description" in {}).toBe(false);
});

test("a filter closes the provider that it is made of", async () => {
  let closed = 0;
  const provider = Object.assign(() => ({ a: noop }), { close: async () => void closed++ });
  await filterTools(filterTools(provider, {}), {}).close?.();
  expect(closed).toBe(1);
  expect(filterTools({ a: noop }, {}).close).toBeUndefined();
});

test("two tools of one name are an error that names the remedy", async () => {
  await expect(collectTools([{ a: noop }, () => ({ a: noop })], task)).rejects.toThrow("Give one a prefix");
});
