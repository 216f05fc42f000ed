import { afterEach, describe, expect, test } from "vitest";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import { type StoreMethod, StoreWrapper } from "../../store/store-wrapper.ts";
import { type EngineHarness, type HarnessOptions, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** Calls every method that must not have its effect twice, inside and outside of steps. */
const busy = scripted(async (task) => {
  const before = await task.context.get("count");
  await task.write(`before: ${numberOf(before)}\n`);
  await task.toolCall({ id: "t1", name: "search", input: { q: "x" } });
  const found = await task.step("search", async () => {
    await task.write("searching\n");
    await task.usage({ inputTokens: 10, toolCalls: 1 });
    await task.context.update("log", (log) => [...(Array.isArray(log) ? (log as JsonValue[]) : []), "searched"]);
    return 3;
  });
  await task.toolResult({ id: "t1", output: { found } });
  await task.usage({ inputTokens: 1, cost: 0.5 });
  await task.context.set("count", numberOf(before) + 1);
  const seen = await task.context.get("count");
  await task.context.set("temporary", true);
  await task.context.delete("temporary");
  await task.write(`now: ${numberOf(seen)}\n`);
  await task.context.update("count", (count) => numberOf(count) + 10);
});

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

const CONTEXT = "conversation" as ContextId;

async function outcome(fault: { readonly at: number; readonly applied: boolean } | undefined): Promise<object> {
  let commits = 0;
  let struck = false;
  class Faulty extends StoreWrapper {
    protected override async around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
      if (method !== "commit") return call();
      commits += 1;
      if (commits !== fault?.at) return call();
      if (fault.applied) await call();
      struck = true;
      return new Promise<never>(() => {});
    }
  }
  harness = await openHarness({ agents: busy, openStore: (setup) => new Faulty(createMemoryStore(setup)) });
  let id: TaskId | undefined;
  for (let tries = 0; tries < 600; tries += 1) {
    await turns(1);
    if (struck) {
      struck = false;
      harness = await harness.crash();
    }
    if (id === undefined) {
      id = (await harness.begin({ contextId: CONTEXT, parts: [{ text: "go" }] })).taskId;
      continue;
    }
    const task = await harness.find(id);
    // The task was never stored: the caller sends again.
    if (task === undefined && tries % 20 === 19) id = undefined;
    if (task?.status.state === "completed") break;
  }
  if (id === undefined) throw new Error("No task was created.");
  const { metadata, artifacts, status } = await harness.get(id);
  const values = await harness.shared.contextValues(harness.scope(), CONTEXT);
  const story = (await harness.story(id)).map((line) => line.replace(/!$/, ""));
  const result = {
    metadata,
    artifacts,
    state: status.state,
    story,
    values: values.map(({ key, value }) => [key, value]),
  };
  await harness[Symbol.asyncDispose]();
  return fault === undefined ? { ...result, commits } : result;
}

describe("a crash at any commit", () => {
  test("does not double usage, context values, tool reports and output of a task", async () => {
    const { commits, ...undisturbed } = (await outcome(undefined)) as { commits: number };
    expect(undisturbed).toMatchObject({
      state: "completed",
      metadata: { usage: { inputTokens: 11, toolCalls: 1, cost: 0.5 } },
      artifacts: [{ parts: [{ text: "before: 0\nsearching\nnow: 1\n" }] }],
      values: [
        ["count", "11"],
        ["log", '["searched"]'],
      ],
    });
    expect(commits).toBeGreaterThan(7);
    for (let at = 1; at <= commits; at += 1) {
      for (const applied of [false, true]) {
        expect(await outcome({ at, applied }), `commit ${at} of ${commits}, applied: ${applied}`).toEqual(undisturbed);
      }
    }
  });
});

async function expectSharedValues(openStore?: HarnessOptions["openStore"]): Promise<void> {
  harness = await openHarness({ agents: busy, ...(openStore !== undefined && { openStore }) });
  const send = (owner: string) =>
    harness.send({ contextId: CONTEXT, parts: [{ text: "go" }] }, { owner }).then(({ artifacts }) => artifacts);
  await send("ann");
  expect(await send("ann")).toMatchObject([{ parts: [{ text: "before: 11\nsearching\nnow: 12\n" }] }]);
  // Another caller with the same context id has values of its own.
  expect(await send("bob")).toMatchObject([{ parts: [{ text: "before: 0\nsearching\nnow: 1\n" }] }]);
}

describe("context values", () => {
  test("are shared by the tasks of one caller and context (memory)", () => expectSharedValues());

  test("are shared by the tasks of one caller and context (SQLite)", async () => {
    await using trial = await sqliteTrial();
    await expectSharedValues((setup) => trial.open(setup));
    await harness[Symbol.asyncDispose]();
  });

  test("may have maxContextBytes in total; keys and values are checked", async () => {
    const problems: unknown[] = [];
    const agents = scripted(async (task) => {
      const attempt = (work: Promise<unknown>) => work.catch((error: unknown) => problems.push(error));
      await task.context.set("a", "x".repeat(50));
      await attempt(task.context.set("b", "x".repeat(60)));
      await attempt(task.context.set("", 1));
      await attempt(task.context.set("k".repeat(201), 1));
      await attempt(task.context.set("c", undefined as never));
      await attempt(task.context.set("c", new Date(0) as never));
      return { a: JSON.stringify(await task.context.get("a"))?.length, b: (await task.context.get("b")) ?? null };
    });
    harness = await openHarness({ agents, limits: { maxContextBytes: 100 } });
    expect((await harness.send("go")).artifacts).toMatchObject([{ parts: [{ data: { a: 52, b: null } }] }]);
    expect(problems).toEqual([
      expect.objectContaining({ code: "context-too-large", message: expect.stringContaining("maxContextBytes") }),
      ...Array.from({ length: 4 }, () => expect.any(TypeError)),
    ]);
  });

  test("two tasks that update one value at the same time both count", async () => {
    const agents = scripted(async (task) => {
      for (let n = 0; n < 5; n += 1) await task.context.update("count", (count) => numberOf(count) + 1);
    });
    harness = await openHarness({ agents });
    await Promise.all(["a", "b", "c"].map((text) => harness.send({ contextId: CONTEXT, parts: [{ text }] })));
    const values = await harness.shared.contextValues(harness.scope(), CONTEXT);
    expect(values).toMatchObject([{ key: "count", value: "15" }]);
  });
});

describe("reports", () => {
  test("an invalid usage, tool call or tool result is refused with its name", async () => {
    const problems: string[] = [];
    const agents = scripted(async (task) => {
      const attempt = (work: Promise<unknown>) =>
        work.catch((error: unknown) => problems.push(error instanceof TypeError ? error.message : String(error)));
      await attempt(task.usage({ inputTokens: -1 }));
      await attempt(task.usage({ cost: Number.NaN }));
      await attempt(task.usage([] as never));
      await attempt(task.toolCall({ id: "", name: "x" }));
      await attempt(task.toolCall({ id: "x", name: "" }));
      await attempt(task.toolResult({ id: "x", error: 7 as never }));
    });
    harness = await openHarness({ agents });
    expect((await harness.send("go")).metadata).toBeUndefined();
    expect(problems).toEqual([
      "usage(): inputTokens must be a number of at least 0.",
      "usage(): cost must be a number of at least 0.",
      "usage() needs an object of numbers.",
      "toolCall(): id must be a string of 1 to 256 characters.",
      "toolCall(): name must be a string of 1 to 256 characters.",
      "toolResult(): error must be a string.",
    ]);
  });

  test("tool calls and results are data parts in status messages; a repeated id is reported once", async () => {
    const agents = scripted(async (task) => {
      await task.toolCall({ id: "1", name: "search", input: [1] });
      await task.toolCall({ id: "1", name: "search", input: [1] });
      await task.toolResult({ id: "1", error: "No network." });
    });
    harness = await openHarness({ agents });
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "completed");
    const parts = (await harness.log(taskId)).flatMap(({ event }) =>
      event.kind === "status" ? (event.status.message?.parts ?? []) : [],
    );
    expect(parts).toEqual([
      { data: { toolUseId: "1", name: "search", input: [1] }, metadata: { kind: "tool-use" } },
      {
        data: { toolUseId: "1", result: { isError: true, message: "No network." } },
        metadata: { kind: "tool-result" },
      },
    ]);
  });
});
