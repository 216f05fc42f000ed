import { describe, expect, test } from "vitest";
import { endings, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { TaskContext } from "../agent/agent.ts";

describe("drain", () => {
  test("rejects messages as unavailable with a retry time, and is not ready", async () => {
    await using harness = await openHarness({ agents: scripted(async () => {}) });
    const { id } = await harness.send("go");
    await harness.engine.drain(0);
    await expect(harness.start("no")).rejects.toMatchObject({ code: "unavailable", retryAfter: 1 });
    await expect(harness.start({ taskId: id, parts: [{ text: "no" }] })).rejects.toMatchObject({ code: "unavailable" });
    await expect(harness.engine.ready()).rejects.toMatchObject({ code: "unavailable" });
    expect((await harness.get(id)).status.state).toBe("completed");
  });

  test("lets running tasks finish within the timeout", async () => {
    let finish: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async () => {
        await new Promise<void>((resolve) => (finish = resolve));
        return "done";
      }),
    });
    const ticket = await harness.start("go");
    const drained = harness.engine.drain(10_000);
    await turns(5);
    expect((await harness.get(ticket.taskId)).status.state).toBe("working");
    finish?.();
    await drained;
    expect((await harness.get(ticket.taskId)).status.state).toBe("completed");
  });

  test("after the timeout releases the tasks without an event, and the next process continues them", async () => {
    const reasons: unknown[] = [];
    const attempts: number[] = [];
    let second: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        attempts.push(task.attempt);
        await task.artifact("a").write("1");
        await task.flush();
        if (task.attempt > 1) {
          second?.();
          return;
        }
        await new Promise<void>((_, reject) =>
          task.signal.addEventListener("abort", () => {
            reasons.push(task.signal.reason);
            reject(task.signal.reason);
          }),
        );
      }),
    });
    const ticket = await harness.start("go");
    await harness.until(async () => (await harness.story(ticket.taskId)).length === 2);
    let isSettled = false;
    const settled = harness.settled(ticket).then(() => (isSettled = true));
    const subscription = await harness.subscribe(ticket.taskId, { after: 2 });
    const reading = subscription.next();
    const drained = harness.engine.drain(5000);
    await harness.advance(4000);
    expect([reasons, isSettled]).toEqual([[], false]);
    await harness.advance(2000);
    await drained;
    await settled;
    expect(await reading).toBeUndefined();
    subscription.close();
    expect(reasons).toMatchObject([{ reason: "shutdown" }]);
    expect(await harness.story(ticket.taskId)).toEqual(["working", "a=1"]);
    expect((await harness.shared.get(ticket.taskId, { artifacts: false }))?.node).toBeUndefined();
    await harness.engine.close();
    const finished = new Promise<void>((resolve) => (second = resolve));
    const next = await harness.join();
    await finished;
    await next.untilState(ticket.taskId, "completed");
    expect(attempts).toEqual([1, 2]);
    expect(await next.story(ticket.taskId)).toEqual(["working", "a=1", "a+=!", "completed"]);
  });

  test("immediately releases tasks that only wait and tasks that are queued", async () => {
    await using harness = await openHarness({
      agents: [
        scripted(async (task) => task.ask("Well?")),
        scripted(async (task) => task.sleep(60_000), { id: "sleeper" }),
        scripted(
          (task) =>
            new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason))),
          {
            id: "single",
            concurrency: 1,
          },
        ),
      ],
    });
    const asked = await harness.send("go");
    const asleep = await harness.start("go", { agent: "sleeper" });
    await harness.until(
      async () => (await harness.shared.get(asleep.taskId, { artifacts: false }))?.head.active === false,
    );
    await harness.start("running", { agent: "single" });
    const queued = await harness.start("queued", { agent: "single" });
    const drained = harness.engine.drain(60_000);
    await turns(10);
    for (const id of [asked.id, asleep.taskId, queued.taskId]) {
      expect((await harness.shared.get(id, { artifacts: false }))?.node).toBeUndefined();
    }
    expect(harness.engine.counts().live).toBe(1);
    await harness.advance(61_000, 5000);
    await drained;
    expect(harness.engine.counts().live).toBe(0);
    expect((await harness.get(asked.id)).status.state).toBe("input-required");
  });

  test("fails the tasks of agents with onRestart: fail", async () => {
    await using harness = await openHarness({
      agents: scripted(
        (task) =>
          new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason))),
        {
          onRestart: "fail",
        },
      ),
    });
    const ticket = await harness.start("go");
    const settled = harness.settled(ticket);
    const drained = harness.engine.drain(1000);
    await harness.advance(2000);
    await Promise.all([drained, settled]);
    const log = await harness.log(ticket.taskId);
    expect(endings(log)).toBe(1);
    expect((await harness.get(ticket.taskId)).status).toMatchObject({ state: "failed" });
  });

  test("a cancel that waits for its run is rejected as unavailable, and still cancels the task", async () => {
    await using harness = await openHarness({
      agents: scripted(() => new Promise<void>(() => {})),
      cancelGrace: 60_000,
    });
    const { taskId } = await harness.start("go");
    const canceled = expect(harness.engine.cancel(harness.scope(), taskId)).rejects.toMatchObject({
      code: "unavailable",
    });
    await turns(5);
    const drained = harness.engine.drain(100);
    await harness.advance(1000);
    await drained;
    await canceled;
    await harness.engine.close();
    const next = await harness.join();
    await next.untilState(taskId, "canceled");
  });

  test("ends although a run is just being parked", async () => {
    await using harness = await openHarness({ agents: scripted(async (task) => task.ask("Well?")), parkAfter: 1000 });
    const { id } = await harness.send("go");
    harness.store.hold({ applied: true });
    await harness.advance(1500);
    expect(harness.store.held).toBe(1);
    const drained = harness.engine.drain(1000);
    await turns(5);
    harness.store.release();
    await turns(10);
    await harness.advance(2000);
    await drained;
    expect(harness.engine.counts().live).toBe(0);
    expect((await harness.get(id)).status.state).toBe("input-required");
  });

  test("hands running tasks over to another living node, and its callers get the result from there", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.artifact("a").write("1");
        await task.flush();
        if (task.attempt > 1) return "done";
        return new Promise<never>((_, reject) =>
          task.signal.addEventListener("abort", () => reject(task.signal.reason)),
        );
      }),
    });
    const other = await harness.join();
    await harness.advance(1100);
    const ticket = await harness.start("go");
    const settled = harness.settled(ticket);
    await harness.until(async () => (await harness.story(ticket.taskId)).length === 2);
    const drained = harness.engine.drain(8000, true);
    await harness.advance(200);
    await other.untilState(ticket.taskId, "completed");
    await harness.advance(100);
    await Promise.all([drained, settled]);
    expect(endings(await other.log(ticket.taskId))).toBe(1);
  });

  test("hands a run over only after its step, and not at all if it would fail", async () => {
    const steps = new Map<string, () => void>();
    const ran: string[] = [];
    const work = (name: string) => async (task: TaskContext) => {
      await task.step("work", () => {
        ran.push(name);
        return new Promise<void>((resolve) => steps.set(name, resolve));
      });
      if (task.attempt === 1)
        await new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));
    };
    const agents = [
      scripted(work("resumes"), { id: "resumes" }),
      scripted(work("fails"), { id: "fails", onRestart: "fail" }),
    ];
    await using harness = await openHarness({ agents });
    const other = await harness.join();
    await harness.advance(1100);
    const resumes = await harness.start("go", { agent: "resumes" });
    const fails = await harness.start("go", { agent: "fails" });
    await harness.until(async () => steps.size === 2);
    const drained = harness.engine.drain(8000, true);
    await harness.advance(1000);
    expect(harness.engine.counts().live).toBe(2);
    for (const end of steps.values()) end();
    await harness.advance(200);
    await other.untilState(resumes.taskId, "completed");
    expect(harness.engine.counts().live).toBe(1);
    expect(ran).toEqual(["resumes", "fails"]);
    await harness.advance(8000, 500);
    await drained;
    expect((await other.get(fails.taskId, { agent: "fails" })).status.state).toBe("failed");
  });

  test("can be called twice, and close waits for it", async () => {
    await using harness = await openHarness({
      agents: scripted(
        (task) =>
          new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason))),
      ),
    });
    const { taskId } = await harness.start("go");
    const order: string[] = [];
    const drained = harness.engine.drain(5000).then(() => order.push("drained"));
    const closed = harness.engine.close().then(() => order.push("closed"));
    await turns(10);
    expect(order).toEqual([]);
    await harness.advance(6000);
    await Promise.all([drained, closed]);
    expect(order).toEqual(["drained", "closed"]);
    expect(JSON.parse((await harness.shared.get(taskId, { artifacts: false }))?.head.runner ?? "{}")).toMatchObject({
      released: true,
    });
  });
});

describe("a lost lease", () => {
  test("aborts the run, which writes nothing more; the other node continues; no event is lost or doubled", async () => {
    const contexts: TaskContext[] = [];
    const outcomes: unknown[] = [];
    const run = async (task: TaskContext): Promise<void> => {
      contexts.push(task);
      await task.artifact("a").write("1");
      await task.artifact("a").write("2");
      await task.flush();
      if (task.attempt > 1) return task.artifact("a").end("3");
      // Ignores its signal and continues to write.
      for (let n = 0; n < 20; n += 1) {
        await turns(5);
        await task
          .artifact("a")
          .write("mine")
          .catch((error: unknown) => outcomes.push(error));
        await task.flush().catch((error: unknown) => outcomes.push(error));
      }
    };
    await using harness = await openHarness({ agents: scripted(run) });
    const ticket = await harness.start("go");
    await harness.until(async () => (await harness.story(ticket.taskId)).length === 3);
    const subscription = await harness.subscribe(ticket.taskId, { after: 0 });
    // The second node considers the first one dead.
    await harness.shared.leave(harness.node);
    const other = await harness.join();
    await other.untilState(ticket.taskId, "completed");
    await harness.until(() => outcomes.length >= 20);
    expect(contexts[0]?.signal.reason).toMatchObject({ reason: "lease-lost" });
    expect(outcomes.every((outcome) => Reflect.get(Object(outcome), "reason") === "lease-lost")).toBe(true);
    expect(await harness.story(ticket.taskId)).toEqual(["working", "a=1", "a+=2", "a+=3!", "completed"]);
    const seen: number[] = [];
    const reading = (async () => {
      for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next())
        seen.push(...batch.entries.map(({ seq }) => seq));
    })();
    await harness.advance(2000);
    await reading;
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    subscription.close();
    await harness.until(() => harness.engine.counts().orphans === 0);
  });

  test("is not claimed back from a living node", async () => {
    let context: TaskContext | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        context = task;
        await new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.shared.heartbeat("rival", 600_000);
    await harness.shared.commit([{ kind: "claim", task: taskId, node: "rival", force: true }]);
    await context?.artifact("a").write("x");
    await expect(context?.flush()).rejects.toMatchObject({ reason: "lease-lost" });
    await harness.advance(5000);
    expect(await harness.shared.get(taskId, { artifacts: false })).toMatchObject({ node: "rival", epoch: 2 });
    expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0, orphans: 0 });
  });
});
