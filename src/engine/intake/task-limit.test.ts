import { describe, expect, test } from "vitest";
import type { Task } from "../../protocol/task.ts";
import { type EngineHarness, openHarness, scripted } from "../../testing/engine-harness.ts";
import type { RunFunction } from "../agent/agent.ts";

const GRACE = 5000;

const limited = { timeoutMs: 10_000 } as const;

const outcome = ({ status }: Task): readonly unknown[] => [status.state, status.message?.parts[0]?.text];
const TIMED_OUT = ["failed", "Task timed out"];

/** Advances the clock to just before the limit, and then to the limit. */
async function passLimit(harness: EngineHarness, id: Task["id"]): Promise<Task> {
  await harness.advance(9999);
  expect(["failed", "completed"]).not.toContain((await harness.get(id)).status.state);
  await harness.advance(1);
  return harness.get(id);
}

describe("a task with a timeout of the caller fails at the timeout", () => {
  const cases: Readonly<Record<string, RunFunction>> = {
    "while it sleeps": (task) => task.sleep(20_000),
    "while it waits for an answer": async (task) => void (await task.ask("Well?")),
    "while it waits for an authorisation": async (task) => void (await task.requireAuth("Log in")),
    "while it works, whatever the cancel grace": () => new Promise<never>(() => {}),
  };

  test.each(Object.entries(cases))("%s", async (_name, run) => {
    await using harness = await openHarness({ agents: scripted(run), cancelGrace: GRACE, parkAfter: 60_000 });
    const { taskId } = await harness.start("go", limited);
    expect(outcome(await passLimit(harness, taskId))).toEqual(TIMED_OUT);
  });

  test.each(Object.entries(cases).slice(0, 3))("%s, with its run parked", async (_name, run) => {
    await using harness = await openHarness({ agents: scripted(run), parkAfter: 1000 });
    const { taskId } = await harness.start("go", limited);
    await harness.advance(3000);
    expect(harness.engine.counts().live).toBe(0);
    await harness.advance(6999);
    expect((await harness.get(taskId)).status.state).not.toBe("failed");
    await harness.advance(1);
    await harness.until(async () => (await harness.get(taskId)).status.state === "failed");
    expect(outcome(await harness.get(taskId))).toEqual(TIMED_OUT);
  });

  test.each(Object.entries(cases))("%s, after a restart", async (_name, run) => {
    await using first = await openHarness({ agents: scripted(run), parkAfter: 60_000, cancelGrace: GRACE });
    const { taskId } = await first.start("go", limited);
    await first.advance(5000);
    const second = await first.crash();
    await second.advance(4999);
    expect((await second.get(taskId)).status.state).not.toBe("failed");
    await second.advance(1);
    await second.until(async () => (await second.get(taskId)).status.state === "failed");
    expect(outcome(await second.get(taskId))).toEqual(TIMED_OUT);
  });

  test.each(Object.entries(cases))("%s, if the limit passed while no server ran", async (_name, run) => {
    let starts = 0;
    const counted = scripted((task) => {
      starts++;
      return run(task);
    });
    await using first = await openHarness({ agents: counted, parkAfter: 60_000 });
    const { taskId } = await first.start("go", limited);
    await first.kill();
    await first.clock.advance(50_000);
    const second = await first.join();
    await second.until(async () => (await second.get(taskId)).status.state === "failed");
    expect([...outcome(await second.get(taskId)), starts]).toEqual([...TIMED_OUT, 1]);
  });

  test("while it is queued", async () => {
    await using harness = await openHarness({
      agents: scripted(() => new Promise<never>(() => {}), { concurrency: 1 }),
    });
    await harness.start("first");
    const { taskId } = await harness.start("second", limited);
    expect(outcome(await passLimit(harness, taskId))).toEqual(TIMED_OUT);
  });

  test("even if the agent's timeout passed shortly before", async () => {
    const agents = scripted(() => new Promise<never>(() => {}), { timeout: 9000 });
    await using harness = await openHarness({ agents, cancelGrace: GRACE });
    const { taskId } = await harness.start("go", limited);
    expect(outcome(await passLimit(harness, taskId))).toEqual(TIMED_OUT);
  });
});

describe("a task within its limits", () => {
  test("continues after time that does not count for the agent's timeout", async () => {
    const agents = scripted((task) => task.sleep(20_000), { timeout: 10_000 });
    await using harness = await openHarness({ agents, parkAfter: 60_000 });
    const { taskId } = await harness.start("go");
    await harness.advance(20_000);
    expect((await harness.get(taskId)).status.state).toBe("completed");
  });

  test("leaves no timer behind when it ends before the caller's limit", async () => {
    const agents = scripted((task) => task.sleep(10));
    await using harness = await openHarness({ agents });
    const before = harness.clock.pending;
    const { taskId } = await harness.start("go", limited);
    await harness.advance(10);
    expect((await harness.get(taskId)).status.state).toBe("completed");
    expect(harness.clock.pending).toBeLessThanOrEqual(before);
  });
});
