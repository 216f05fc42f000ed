import { afterEach, describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import { type EngineHarness, openHarness, scripted } from "../../testing/engine-harness.ts";
import { type JournalEntry, readJournal } from "../record/journal.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

async function journalOf(id: TaskId): Promise<readonly JournalEntry[]> {
  return readJournal(await harness.shared.journal(id));
}

/** Each entry as one text: kind, key, and outcome. */
async function outline(id: TaskId): Promise<readonly string[]> {
  return (await journalOf(id)).map(({ kind, key, outcome = "open" }) => `${kind} ${key} ${outcome}`);
}

describe("the journal of a task", () => {
  test("is empty if one commit creates and ends the task", async () => {
    harness = await openHarness({ agents: scripted(async () => "done") });
    const { id } = await harness.send("go");
    expect(harness.store.commits).toHaveLength(1);
    expect(await journalOf(id)).toEqual([]);
  });

  test("needs no commits of its own", async () => {
    const run = scripted(async (task) => {
      await task.step("look", () => 1);
      return "done";
    });
    harness = await openHarness({ agents: run });
    await harness.send("go");
    // Created with the status `working`; the result of the step; the end.
    expect(harness.store.commits).toHaveLength(3);
  });

  test("has attempts and steps with their times, outcomes and node, and no results", async () => {
    harness = await openHarness({
      agents: scripted(async (task) => {
        await task.step("look", async () => {
          await harness.clock.advance(20);
          return "a secret result";
        });
        await task.step("fail", () => Promise.reject(new Error("no"))).catch(() => {});
        return "done";
      }),
    });
    const began = harness.clock.now();
    const { id } = await harness.send("go");
    const { node } = harness;
    const common = { turn: 1, attempt: 1, node };
    expect(await journalOf(id)).toEqual([
      { ...common, kind: "attempt", key: "1", start: began, end: began + 20, outcome: "completed" },
      { ...common, kind: "step", key: "step:look#1", start: began, end: began + 20, outcome: "completed" },
      { ...common, kind: "step", key: "step:fail#1", start: began + 20, end: began + 20, outcome: "failed" },
    ]);
    expect(JSON.stringify(await harness.shared.journal(id))).not.toContain("secret");
  });

  test("shows a crash as an attempt without an end, and ends calls that another process began", async () => {
    harness = await openHarness({
      agents: scripted(async (task) => {
        await task.sleep(5000);
        const name = await task.ask("Name?");
        if (task.attempt < 3) await new Promise<never>(() => {});
        return `Hello ${String(name)}`;
      }),
    });
    const { taskId } = await harness.start("go");
    harness = await harness.crash();
    await harness.advance(6000);
    await harness.untilState(taskId, "input-required");
    const question = await journalOf(taskId);
    expect(question.at(-1)).toMatchObject({ kind: "question", key: "ask:Name?#1", attempt: 2 });
    expect(question.at(-1)?.end).toBeUndefined();
    const answered = harness.send({ taskId, parts: [{ text: "Ada" }] });
    await harness.until(async () => (await outline(taskId)).includes("question ask:Name?#1 answered"));
    answered.catch(() => {});
    harness = await harness.crash();
    await harness.untilState(taskId, "completed");
    expect(await outline(taskId)).toEqual([
      "attempt 1 open",
      "wait sleep:#1 completed",
      "attempt 2 open",
      "question ask:Name?#1 answered",
      "attempt 3 completed",
    ]);
    // Two later attempts have replayed the sleep.
    const [attempt, sleep] = await journalOf(taskId);
    expect(sleep?.end).toBe((attempt?.start ?? 0) + 5000);
  });

  test("records that a waiting run was parked, and counts the turns", async () => {
    harness = await openHarness({
      agents: scripted(async (task) => (task.text === "go" ? task.ask("Name?") : task.step("again", () => "twice"))),
    });
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "input-required");
    await harness.advance(31_000);
    expect(await outline(taskId)).toEqual(["attempt 1 parked", "question ask:Name?#1 open"]);
    await harness.send({ taskId, parts: [{ text: "Ada" }] });
    expect(await outline(taskId)).toEqual(["attempt 1 parked", "question ask:Name?#1 answered", "attempt 2 completed"]);
  });

  test("does not confuse a step whose name ends like an end with the end of another", async () => {
    harness = await openHarness({
      agents: scripted(async (task) => {
        await task.step("a", () => 1);
        await task.step("a#1/end", () => 2);
      }),
    });
    const { id } = await harness.send("go");
    expect(await outline(id)).toEqual([
      "attempt 1 completed",
      "step step:a#1 completed",
      "step step:a#1/end#1 completed",
    ]);
  });
});
