import { describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import { openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { TaskContext } from "../agent/agent.ts";

describe("parking", () => {
  test("a run that waits long for an answer has no slot and no lease; the answer starts it again", async () => {
    const signals: AbortSignal[] = [];
    const attempts: number[] = [];
    await using harness = await openHarness({
      parkAfter: 30_000,
      agents: scripted(
        async (task) => {
          signals.push(task.signal);
          attempts.push(task.attempt);
          await task.artifact("a").write("before");
          const answer = await task.ask("Well?");
          return `after ${answer}`;
        },
        { concurrency: 1 },
      ),
    });
    const { id } = await harness.send("go");
    await harness.advance(29_000);
    expect(harness.engine.counts()).toMatchObject({ running: 1, live: 1 });
    expect((await harness.shared.get(id, { artifacts: false }))?.node).toBe(harness.node);
    await harness.advance(2000);
    expect(harness.engine.counts()).toMatchObject({ running: 0, live: 0, orphans: 0 });
    expect((await harness.shared.get(id, { artifacts: false }))?.node).toBeUndefined();
    expect(signals[0]?.reason).toMatchObject({ reason: "parked" });
    expect((await harness.get(id)).status.state).toBe("input-required");
    const other = await harness.send("another has the slot now");
    expect(other.status.state).toBe("input-required");
    await harness.engine.cancel(harness.scope(), other.id);
    const task = await harness.send({ taskId: id, parts: [{ text: "yes" }] });
    expect(attempts).toEqual([1, 1, 2]);
    expect(task.status.state).toBe("completed");
    const story = (await harness.story(id)).filter((line) => line !== "working");
    expect(story).toEqual(["a=before", "input-required:Well?", "result=after yes!", "a+=!", "completed"]);
  });

  test("if more than limits.maxWaitingRuns wait, those that have waited longest are parked after 1 s", async () => {
    await using harness = await openHarness({
      parkAfter: 30_000,
      limits: { maxWaitingRuns: 2 },
      agents: scripted(async (task) => `answer ${await task.ask("Well?")}`),
    });
    const ids: TaskId[] = [];
    for (const name of ["first", "second", "third", "fourth"]) {
      ids.push((await harness.send(name)).id);
      await harness.advance(10);
    }
    await harness.advance(900);
    expect(harness.engine.counts()).toMatchObject({ live: 4 });
    await harness.advance(1200);
    const records = await Promise.all(ids.map((id) => harness.shared.get(id, { artifacts: false })));
    expect(records.map((record) => record?.node !== undefined)).toEqual([false, false, true, true]);
    const answered = await harness.send({ taskId: ids[0] as TaskId, parts: [{ text: "yes" }] });
    expect(answered.status.state).toBe("completed");
    await harness.advance(30_000);
    expect(harness.engine.counts()).toMatchObject({ live: 0 });
  });

  test("a run that continues within 30 s is not parked, however many wait", async () => {
    const attempts: number[] = [];
    await using harness = await openHarness({
      parkAfter: 60_000,
      limits: { maxWaitingRuns: 1 },
      agents: scripted(async (task) => {
        attempts.push(task.attempt);
        await task.sleep(20_000);
        return "done";
      }),
    });
    const tasks = await Promise.all(["a", "b", "c"].map((text) => harness.start(text)));
    await harness.advance(19_000);
    expect(harness.engine.counts()).toMatchObject({ live: 3 });
    await harness.advance(2000);
    expect(attempts).toEqual([1, 1, 1]);
    for (const { taskId } of tasks) expect((await harness.get(taskId)).status.state).toBe("completed");
  });

  test("a run that also waits for something in its process is not parked before that is there", async () => {
    let watched = 0;
    let authorise: (() => void) | undefined;
    await using harness = await openHarness({
      parkAfter: 5000,
      agents: scripted(async (task) => {
        const until = (): Promise<void> => {
          watched += 1;
          return new Promise((resolve) => (authorise = resolve));
        };
        const sleep = task.sleep(600_000);
        await Promise.all([task.requireAuth("Sign in", { until }), task.sleep(500_000, { name: "other" }), sleep]);
        return "both";
      }),
    });
    const { id } = await harness.send("go");
    await harness.advance(60_000, 5000);
    expect(harness.engine.counts()).toMatchObject({ running: 1, live: 1 });
    expect(await harness.shared.get(id, { artifacts: false })).toMatchObject({ head: { active: true } });
    authorise?.();
    // Only the sleep is left.
    await harness.advance(60_000, 5000);
    expect(harness.engine.counts()).toMatchObject({ running: 0, live: 0 });
    await harness.advance(600_000, 5000);
    expect((await harness.get(id)).status.state).toBe("completed");
    expect(watched).toBe(1);
  });

  test("a run that sleeps long is parked, and started again in time", async () => {
    let ran = 0;
    await using harness = await openHarness({
      parkAfter: 5000,
      agents: scripted(async (task) => {
        ran += 1;
        await task.sleep(60_000);
        return "slept";
      }),
    });
    const ticket = await harness.start("go");
    await harness.advance(10_000);
    expect(harness.engine.counts()).toMatchObject({ running: 0, live: 0 });
    await harness.advance(45_000);
    expect(ran).toBe(1);
    await harness.advance(6000);
    await harness.settled(ticket);
    expect(ran).toBe(2);
    expect((await harness.story(ticket.taskId)).filter((line) => line !== "working")).toEqual([
      "result=slept!",
      "completed",
    ]);
  });

  test("a run that waits in next() is not parked, because it may be working meanwhile", async () => {
    await using harness = await openHarness({
      parkAfter: 5000,
      agents: scripted(async (task) => `heard ${(await task.next()).parts[0]?.text}`),
    });
    const { taskId } = await harness.start("go");
    await harness.advance(10_000);
    expect(harness.engine.counts().live).toBe(1);
    const task = await harness.send({ taskId, parts: [{ text: "you" }] });
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe("heard you");
  });

  test("a run with a running step is not parked", async () => {
    let finish: (() => void) | undefined;
    await using harness = await openHarness({
      parkAfter: 1000,
      agents: scripted(async (task) => {
        const [answer] = await Promise.all([
          task.ask("Well?"),
          task.step("s", () => new Promise<void>((resolve) => (finish = resolve))),
        ]);
        return answer;
      }),
    });
    const { id } = await harness.send("go");
    await harness.advance(10_000);
    expect(harness.engine.counts().live).toBe(1);
    finish?.();
    await harness.advance(3000);
    expect(harness.engine.counts().live).toBe(0);
    expect((await harness.send({ taskId: id, parts: [{ text: "yes" }] })).status.state).toBe("completed");
  });

  test("agents that cannot be started again are never parked", async () => {
    await using harness = await openHarness({
      parkAfter: 1000,
      agents: scripted(async (task) => task.ask("Well?"), { onRestart: "fail" }),
    });
    const { id } = await harness.send("go");
    await harness.advance(600_000, 20_000);
    expect(harness.engine.counts().live).toBe(1);
    expect((await harness.send({ taskId: id, parts: [{ text: "yes" }] })).status.state).toBe("completed");
  });

  test("a message that arrives while the run is being parked is not lost", async () => {
    await using harness = await openHarness({
      parkAfter: 1000,
      agents: scripted(async (task) => `got ${await task.ask("Well?")}`),
    });
    const { id } = await harness.send("go");
    harness.store.hold();
    await harness.advance(1500);
    expect(harness.store.held).toBe(1);
    const answered = harness.start({ taskId: id, parts: [{ text: "just in time" }] });
    await turns(5);
    harness.store.release();
    const ticket = await answered;
    await harness.settled(ticket);
    expect((await harness.get(id)).artifacts?.[0]?.parts[0]?.text).toBe("got just in time");
  });
});

describe("sleep", () => {
  test("continues after its time, shows nothing to readers, and does not count towards the deadline", async () => {
    await using harness = await openHarness({
      agents: scripted(
        async (task) => {
          await task.sleep(10_000);
          return "slept";
        },
        { timeout: 5000 },
      ),
      parkAfter: 1e9,
    });
    const ticket = await harness.start("go");
    await harness.advance(9900);
    expect((await harness.get(ticket.taskId)).status.state).toBe("working");
    await harness.advance(200);
    await harness.settled(ticket);
    expect(await harness.story(ticket.taskId)).toEqual(["working", "result=slept!", "completed"]);
  });

  test("throws for a value that is not a number of milliseconds", async () => {
    await using harness = await openHarness({ agents: scripted(async (task) => task.sleep(Number.NaN)) });
    expect((await harness.send("go")).status.state).toBe("failed");
  });

  test("rejects if it begins after the signal was aborted", async () => {
    const caught: unknown[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task: TaskContext) => {
        await new Promise<void>((resolve) => task.signal.addEventListener("abort", () => resolve()));
        await task.sleep(1000).catch((error: unknown) => caught.push(error));
        await task.ask("Anybody?").catch((error: unknown) => caught.push(error));
        task.signal.throwIfAborted();
      }),
    });
    const { taskId } = await harness.start("go");
    expect(await harness.engine.cancel(harness.scope(), taskId)).toBe("canceled");
    expect(caught).toMatchObject([{ reason: "canceled" }, { reason: "canceled" }]);
  });
});
