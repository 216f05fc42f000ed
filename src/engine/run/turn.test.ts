import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type EngineHarness, messageFrom, openHarness, scripted } from "../../testing/engine-harness.ts";
import { agent, skill, type TaskContext } from "../agent/agent.ts";
import { dataFor } from "./turn.ts";

let harness: EngineHarness | undefined;
afterEach(async () => {
  await harness?.[Symbol.asyncDispose]();
  harness = undefined;
});

const numbered = skill({
  id: "numbered",
  name: "N",
  description: "N",
  tags: [],
  input: z.object({ n: z.coerce.number() }),
  run: async () => {},
});

describe("the data of a turn", () => {
  test("is the message as the skill's schema returns it", async () => {
    expect(await dataFor(numbered, messageFrom({ parts: [{ data: { n: "3" } }] }))).toEqual({ n: 3 });
    expect(await dataFor(numbered, messageFrom('{"n":"4"}'))).toEqual({ n: 4 });
  });

  test("is the first data part if the skill has no schema, and a text stays a text", async () => {
    expect(await dataFor(undefined, messageFrom({ parts: [{ text: "x" }, { data: 1 }, { data: 2 }] }))).toBe(1);
    expect(await dataFor(undefined, messageFrom('{"n":1}'))).toBeUndefined();
  });

  test("is the same in every attempt", async () => {
    const seen: unknown[] = [];
    let stuck = false;
    const look = async (task: TaskContext<unknown>): Promise<void> => {
      seen.push([task.skillId, task.data, task.text, task.metadata, task.outputModes, task.extensions, task.caller.id]);
      if (task.attempt > 1) return;
      stuck = true;
      await new Promise<never>(() => {});
    };
    for (const said of ['{"n":1}', { parts: [{ data: { n: "2" } }] }]) {
      seen.length = 0;
      stuck = false;
      const skills = typeof said === "string" ? [] : [{ ...numbered, run: look }];
      harness = await openHarness({ agents: agent({ name: "A", description: "A", version: "1", skills, run: look }) });
      const who = { owner: "ada", metadata: { m: 1 }, outputModes: ["text/plain"], extensions: ["urn:x"] };
      const { taskId } = await harness.start(said, who);
      await harness.until(() => stuck);
      harness = await harness.crash();
      await harness.untilState(taskId, "completed", who);
      expect(seen).toHaveLength(2);
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[0]).toEqual(expect.arrayContaining([["text/plain"], ["urn:x"], "ada"]));
      await harness[Symbol.asyncDispose]();
      harness = undefined;
    }
  });
});

describe("the next turn", () => {
  async function twoTurns(second: Record<string, string> | undefined): Promise<(string | undefined)[]> {
    const ran: (string | undefined)[] = [];
    const run = async (task: TaskContext<unknown>): Promise<void> => {
      ran.push(task.skillId);
      if (ran.length > 1) return;
      await task.flush();
      await harness?.start({
        taskId: harness.scope() && (task.id as never),
        parts: [{ text: "more" }],
        ...(second && { metadata: second }),
      });
    };
    const skills = ["one", "two"].map((id) => ({ id, name: id, description: id, tags: [], run }));
    harness = await openHarness({ agents: agent({ name: "A", description: "A", version: "1", skills }) });
    const { taskId } = await harness.start({ parts: [{ text: "go" }], metadata: { skillId: "one" } });
    await harness.untilState(taskId, "completed");
    return ran;
  }

  test("uses the skill of the turn before", async () => {
    expect(await twoTurns(undefined)).toEqual(["one", "one"]);
  });

  test("uses the skill that its message names", async () => {
    expect(await twoTurns({ skillId: "two" })).toEqual(["one", "two"]);
  });

  test("has its own steps with their own keys, even if nothing was written in between", async () => {
    const keys: string[] = [];
    harness = await openHarness({
      agents: scripted(async (task) => {
        await task.step("s", ({ key }) => void keys.push(key));
        if (keys.length < 3) await harness?.start({ taskId: task.id as never, parts: [{ text: "more" }] });
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "completed");
    expect(new Set(keys).size).toBe(3);
  });

  test("does not wait for calls that the turn before did not await", async () => {
    let starts = 0;
    harness = await openHarness({
      agents: scripted(async (task) => {
        starts += 1;
        if (task.text === "go") {
          void task.sleep(60_000);
          await task.flush();
          await harness?.start({ taskId: task.id as never, parts: [{ text: "more" }] });
          return;
        }
        await new Promise<void>((resolve) => harness?.clock.setTimer(harness.clock.now() + 45_000, resolve));
      }),
      parkAfter: 30_000,
    });
    const { taskId } = await harness.start("go");
    await harness.advance(46_000);
    await harness.untilState(taskId, "completed");
    expect(starts).toBe(2);
  });
});
