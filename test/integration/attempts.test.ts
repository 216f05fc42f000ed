import { afterEach, describe, expect, test } from "vitest";
import type { TaskContext } from "../../src/engine/agent/agent.ts";
import { type RunnerRecord, readRunner } from "../../src/engine/record/runner-record.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import { type EngineHarness, openHarness, scripted } from "../../src/testing/engine-harness.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

const never = (): Promise<never> => new Promise(() => {});

async function runnerOf(id: TaskId): Promise<RunnerRecord> {
  const record = await harness.shared.get(id, { artifacts: false });
  return readRunner(record?.head.runner ?? "{}");
}

async function stateOf(id: TaskId): Promise<string> {
  return (await harness.get(id)).status.state;
}

/** Counts the started runs by message text. Each engine stands for one process. */
class Starts {
  readonly all: string[] = [];
  count(text: string): number {
    return this.all.filter((started) => started === text).length;
  }
}

/** Waits for the next start of the crashing task; returns false if the task has failed instead. */
async function isStartedAgain(starts: Starts, poison: TaskId, before: number): Promise<boolean> {
  for (let waited = 0; waited < 3000; waited += 1) {
    if (starts.count("poison") > before) return true;
    if ((await stateOf(poison)) === "failed") return false;
    await harness.advance(1000);
  }
  throw new Error("The crashing task was neither started nor failed.");
}

/**
 * Kills the process `after` ms after each start of the crashing task, until the task has failed. Returns the number of
 * crashes.
 */
async function crashWhilePoisoned(starts: Starts, poison: TaskId, after = 0): Promise<number> {
  for (let crashes = 1; crashes < 50; crashes += 1) {
    const before = starts.count("poison");
    harness = await harness.crash();
    if (!(await isStartedAgain(starts, poison, before))) return crashes;
    if (after > 0) await harness.advance(after, 1000);
  }
  throw new Error("The process died 50 times.");
}

describe("a task that crashes its process", () => {
  test.each(["slow", "quick"])("fails alone, and %s tasks of the same process lose no attempts", async (kind) => {
    const starts = new Starts();
    let cured = false;
    harness = await openHarness({
      agents: scripted(async (task) => {
        starts.all.push(task.text);
        if (task.text === "poison") return never();
        // A quick task stores a new step in each attempt; a slow task stores nothing until its end.
        if (kind === "quick") for (let n = 0; n < task.attempt; n += 1) await task.step(`s${n}`, () => n);
        if (!cured) return never();
        return "done";
      }),
    });
    const innocents: TaskId[] = [];
    for (let n = 0; n < 10; n += 1) innocents.push((await harness.start("innocent")).taskId);
    const poison = (await harness.start("poison")).taskId;
    for (let n = 0; n < 10; n += 1) innocents.push((await harness.start("innocent")).taskId);
    await harness.until(() => starts.all.length === 21);
    const crashes = await crashWhilePoisoned(starts, poison);
    expect((await harness.get(poison)).status.message?.parts[0]?.text).toContain("attempts-exhausted");
    // Two crashes with all tasks, five that halve the suspects from 21 to one, then three with that task alone.
    expect(crashes).toBeLessThanOrEqual(2 + 5 + 3);
    for (const id of innocents) expect((await runnerOf(id)).tries).toBe(1);
    cured = true;
    harness = await harness.crash();
    for (let waited = 0; waited < 60; waited += 1) await harness.advance(1000);
    for (const id of innocents) expect(await stateOf(id)).toBe("completed");
    for (const id of innocents) expect((await runnerOf(id)).tries).toBe(1);
  });

  test("is found even if it crashes later than its group must survive", async () => {
    const starts = new Starts();
    harness = await openHarness({
      agents: scripted(async (task) => {
        starts.all.push(task.text);
        return never();
      }),
    });
    const innocent = (await harness.start("innocent")).taskId;
    const poison = (await harness.start("poison")).taskId;
    await harness.until(() => starts.all.length === 2);
    const crashes = await crashWhilePoisoned(starts, poison, 45_000);
    expect(await stateOf(poison)).toBe("failed");
    expect(crashes).toBeLessThan(20);
    expect((await runnerOf(innocent)).tries).toBe(1);
  });

  test("fails at the 100th crash even if it stores something new in every attempt", async () => {
    let starts = 0;
    harness = await openHarness({
      agents: scripted(async (task) => {
        for (let n = 0; n < task.attempt; n += 1) await task.step(`s${n}`, () => n);
        await task.flush();
        starts += 1;
        return never();
      }),
    });
    const { taskId } = await harness.start("go");
    for (let crashes = 1; crashes <= 99; crashes += 1) {
      await harness.until(() => starts === crashes);
      harness = await harness.crash();
    }
    await harness.until(() => starts === 100);
    expect(await stateOf(taskId)).toBe("working");
    expect(await runnerOf(taskId)).toMatchObject({ tries: 1, crashes: 99 });
    harness = await harness.crash();
    await harness.untilState(taskId, "failed");
    expect((await harness.get(taskId)).status.message?.parts[0]?.text).toMatch(/^attempts-exhausted: .*100 times/);
  });

  test.each([1, 5])("has as many attempts as the agent's maxAttempts (%d)", async (maxAttempts) => {
    let starts = 0;
    const run = async (): Promise<never> => {
      starts += 1;
      return never();
    };
    harness = await openHarness({ agents: scripted(run, { maxAttempts }) });
    const { taskId } = await harness.start("go");
    for (let crashes = 1; crashes <= maxAttempts; crashes += 1) {
      await harness.until(() => starts === crashes);
      harness = await harness.crash();
    }
    await harness.untilState(taskId, "failed");
    expect(starts).toBe(maxAttempts);
    const times = maxAttempts === 1 ? "once" : `${maxAttempts} times`;
    expect((await harness.get(taskId)).status.message?.parts[0]?.text).toBe(
      `attempts-exhausted: the task's run crashed ${times} without progress.`,
    );
  });
});

describe("attempts are not used up", () => {
  const answersAfterwards = async (task: TaskContext): Promise<string> => {
    await task.ask("Go on?");
    return never();
  };

  test.each(["step", "event"])("by a task that stores a new %s in every attempt", async (kind) => {
    let starts = 0;
    harness = await openHarness({
      agents: scripted(async (task) => {
        for (let n = 0; n < task.attempt; n += 1) {
          if (kind === "step") await task.step(`s${n}`, () => n);
          else await task.artifact("a").write(`${n} `);
        }
        await task.flush();
        starts += 1;
        return starts > 10 ? "done" : never();
      }),
    });
    const { taskId } = await harness.start("go");
    for (let crashes = 1; crashes <= 10; crashes += 1) {
      await harness.until(() => starts === crashes);
      harness = await harness.crash();
    }
    await harness.untilState(taskId, "completed");
    expect(await runnerOf(taskId)).toMatchObject({ attempt: 11, tries: 1 });
  });

  test("by an attempt in which a question was answered", async () => {
    harness = await openHarness({ agents: scripted(answersAfterwards) });
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "input-required");
    await harness.start({ taskId, parts: [{ text: "yes" }] });
    await harness.until(async () => (await stateOf(taskId)) === "working");
    harness = await harness.crash();
    await harness.until(async () => (await runnerOf(taskId)).attempt === 2);
    expect(await runnerOf(taskId)).toMatchObject({ tries: 1 });
  });

  test("by a lease that another node claimed", async () => {
    let starts = 0;
    let go: () => void = () => {};
    harness = await openHarness({
      agents: scripted(async (task) => {
        starts += 1;
        if (starts > 5) return "done";
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        await task.step("refused", () => starts);
        return never();
      }),
    });
    const { taskId } = await harness.start("go");
    for (let lost = 1; lost <= 5; lost += 1) {
      await harness.until(() => starts === lost);
      await harness.shared.commit([{ kind: "claim", task: taskId, node: "another", force: true }]);
      go();
    }
    await harness.untilState(taskId, "completed");
    expect(await runnerOf(taskId)).toMatchObject({ attempt: 6, tries: 1 });
    expect((await runnerOf(taskId)).crashes).toBeUndefined();
  });

  test("by a task whose process crashed with another task that was sent meanwhile", async () => {
    let starts = 0;
    harness = await openHarness({
      agents: scripted(async () => {
        starts += 1;
        return never();
      }),
    });
    const { taskId } = await harness.start("innocent");
    await harness.until(() => starts === 1);
    harness = await harness.crash();
    await harness.until(() => starts === 2);
    expect(await runnerOf(taskId)).toMatchObject({ tries: 2, alone: true });
    for (let times = 0; times < 3; times += 1) {
      const before = starts;
      void harness.begin("poison");
      for (let waited = 0; waited < 30 && starts === before; waited += 1) await harness.advance(1000);
      expect((await runnerOf(taskId)).alone).toBe(false);
      harness = await harness.crash();
      await harness.advance(1000);
    }
    expect(await runnerOf(taskId)).toMatchObject({ tries: 2 });
  });
});

describe("a crashed task that waits while others of its group are tested", () => {
  /** Two tasks that crashed together twice: the first is being tested, the second waits. */
  async function oneWaits(): Promise<{ readonly waiting: TaskId; readonly starts: () => number }> {
    let starts = 0;
    harness = await openHarness({
      agents: scripted(async () => {
        starts += 1;
        return never();
      }),
    });
    await harness.start("first");
    const { taskId } = await harness.start("second");
    for (const times of [2, 4]) {
      await harness.until(() => starts === times);
      harness = await harness.crash();
    }
    await harness.until(() => starts === 5);
    return { waiting: taskId, starts: () => starts };
  }

  test("is canceled at once", async () => {
    const { waiting, starts } = await oneWaits();
    const { scope } = (await harness.shared.get(waiting, { artifacts: false })) ?? {};
    if (scope === undefined) throw new Error("The task does not exist.");
    const canceling = harness.engine.cancel(scope, waiting);
    await harness.untilState(waiting, "canceled");
    expect(await canceling).toBe("canceled");
    expect(starts()).toBe(5);
  });

  test("is not started by a message", async () => {
    const { waiting, starts } = await oneWaits();
    const sending = harness.start({ taskId: waiting, parts: [{ text: "hurry" }] });
    await harness.advance(1000);
    expect(starts()).toBe(5);
    await harness.advance(10_000, 500);
    await sending;
    expect(starts()).toBe(6);
  });
});
