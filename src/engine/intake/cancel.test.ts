import { describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import { endings, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import { TaskAborted, type TaskContext } from "../agent/agent.ts";

/** Rejects when its signal aborts. */
const polite = scripted(
  (task) => new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason))),
);

describe("cancel", () => {
  test("aborts the run with its reason and ends the task as canceled", async () => {
    let reason: unknown;
    await using harness = await openHarness({
      agents: scripted(
        (task) =>
          new Promise<void>((_, reject) =>
            task.signal.addEventListener("abort", () => {
              reason = task.signal.reason;
              reject(new Error("interrupted in my own way"));
            }),
          ),
      ),
    });
    const { taskId } = await harness.start("go");
    expect(await harness.engine.cancel(harness.scope(), taskId)).toBe("canceled");
    expect(reason).toBeInstanceOf(TaskAborted);
    expect(reason).toMatchObject({ reason: "canceled" });
    expect(await harness.story(taskId)).toEqual(["working", "canceled"]);
    await turns(2);
    expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0, orphans: 0 });
  });

  test("stops a generator and an Observable that ignore the signal at their next value", async () => {
    let go: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async function* () {
        yield "1";
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        yield "2";
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.until(() => go !== undefined);
    const canceled = harness.engine.cancel(harness.scope(), taskId);
    await turns(5);
    go?.();
    expect(await canceled).toBe("canceled");
    expect(await harness.story(taskId)).toEqual(["working", "result=1", "result+=!", "canceled"]);
  });

  test("a run that completes within the grace period completes the task, and the cancel returns too-late", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await new Promise<void>((resolve) => task.signal.addEventListener("abort", () => resolve()));
        return "done after all";
      }),
    });
    const { taskId } = await harness.start("go");
    expect(await harness.engine.cancel(harness.scope(), taskId)).toBe("too-late");
    expect(await harness.story(taskId)).toEqual(["working", "result=done after all!", "completed"]);
  });

  test("after the grace period the task is canceled; its run can no longer write and keeps its slot until it returns", async () => {
    let context: TaskContext | undefined;
    let returnAtLast: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(
        async (task) => {
          context = task;
          await new Promise<void>((resolve) => {
            returnAtLast = resolve;
          });
        },
        { concurrency: 1 },
      ),
      cancelGrace: 5000,
    });
    const { taskId } = await harness.start("go");
    const epochBefore = (await harness.shared.get(taskId, { artifacts: false }))?.epoch;
    const canceled = harness.engine.cancel(harness.scope(), taskId);
    await harness.advance(4000);
    expect((await harness.get(taskId)).status.state).toBe("working");
    await context?.artifact("a").write("still allowed");
    await harness.advance(2000);
    expect(await canceled).toBe("canceled");
    expect((await harness.shared.get(taskId, { artifacts: false }))?.epoch).toBe((epochBefore ?? 0) + 1);
    await expect(context?.artifact("a").write("too late")).rejects.toThrow();
    await expect(context?.step("s", () => 1)).rejects.toThrow();
    expect(harness.engine.counts()).toMatchObject({ orphans: 1, running: 1 });
    const second = await harness.start("waits for the slot");
    await turns(10);
    expect((await harness.get(second.taskId)).status.state).toBe("submitted");
    expect(harness.engine.counts()).toMatchObject({ queued: 1 });
    returnAtLast?.();
    await harness.untilState(second.taskId, "working");
    expect(harness.engine.counts()).toMatchObject({ orphans: 0, running: 1, queued: 0 });
    expect(await harness.story(taskId)).toEqual(["working", "a=still allowed", "a+=!", "canceled"]);
    returnAtLast?.();
  });

  test("a step that ends after the task was canceled stores nothing", async () => {
    let finish: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.step("long", () => new Promise<void>((resolve) => (finish = resolve)));
        await task.artifact("a").write("after");
      }),
      cancelGrace: 1000,
    });
    const { taskId } = await harness.start("go");
    await harness.until(() => finish !== undefined);
    const canceled = harness.engine.cancel(harness.scope(), taskId);
    await turns(5);
    await harness.advance(1100);
    finish?.();
    expect(await canceled).toBe("canceled");
    await turns(10);
    expect(await harness.story(taskId)).toEqual(["working", "canceled"]);
    expect(harness.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("ends the task before its unread messages are read", async () => {
    const turnsBegun: string[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        turnsBegun.push(task.text);
        await new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));
      }),
    });
    const { taskId } = await harness.start("first");
    for (const text of ["second", "third"]) await harness.start({ taskId, parts: [{ text }] });
    expect(await harness.engine.cancel(harness.scope(), taskId)).toBe("canceled");
    expect(turnsBegun).toEqual(["first"]);
    const { history } = await harness.get(taskId);
    expect(history?.map(({ parts }) => parts[0]?.text)).toEqual(["first", "second", "third"]);
  });

  test("ends the task before an unread message starts another turn", async () => {
    const started: string[] = [];
    let next: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        started.push(task.text);
        await new Promise<void>((resolve) => {
          next = resolve;
        });
        // The cancel is in the same commit, and the next turn cannot start before that commit.
        void task.artifact("a").write("x");
      }),
    });
    const { taskId } = await harness.start("first");
    await harness.until(() => next !== undefined);
    await harness.start({ taskId, parts: [{ text: "second" }] });
    const canceled = harness.engine.cancel(harness.scope(), taskId);
    next?.();
    expect(await canceled).toBe("canceled");
    expect(started).toEqual(["first"]);
    expect(await harness.story(taskId)).toEqual(["working", "a=x", "a+=!", "canceled"]);
  });

  test("two cancels and a completion at the same time produce one terminal event, and both cancels report it", async () => {
    for (let delay = 0; delay < 8; delay += 1) {
      let complete: (() => void) | undefined;
      await using harness = await openHarness({
        agents: scripted((task) => {
          const canceled = new Promise<string>((_, reject) =>
            task.signal.addEventListener("abort", () => reject(task.signal.reason)),
          );
          return Promise.race([canceled, new Promise<string>((resolve) => (complete = () => resolve("done")))]);
        }),
      });
      const { taskId } = await harness.start("go");
      const scope = harness.scope();
      const first = harness.engine.cancel(scope, taskId);
      for (let n = 0; n < delay % 4; n += 1) await Promise.resolve();
      if (delay >= 4) await turns(delay - 4);
      complete?.();
      const second = harness.engine.cancel(scope, taskId);
      const results = await Promise.all([first, second]);
      const log = await harness.log(taskId);
      expect(endings(log)).toBe(1);
      const { state } = (await harness.get(taskId)).status;
      for (const result of results)
        expect(state === "canceled" ? ["canceled", "repeated"] : ["too-late"]).toContain(result);
    }
  });

  test("of a queued task removes it from the queue", async () => {
    const started: string[] = [];
    await using harness = await openHarness({
      agents: scripted(
        (task) => {
          started.push(task.text);
          return new Promise<void>((_, reject) =>
            task.signal.addEventListener("abort", () => reject(task.signal.reason)),
          );
        },
        { concurrency: 1 },
      ),
    });
    const running = await harness.start("running");
    const queued = await harness.start("queued");
    expect(harness.engine.counts()).toMatchObject({ running: 1, queued: 1 });
    const canceled = harness.engine.cancel(harness.scope(), queued.taskId);
    await turns(5);
    await harness.advance(10);
    expect(await canceled).toBe("canceled");
    expect(await harness.story(queued.taskId)).toEqual(["canceled"]);
    expect(harness.engine.counts()).toMatchObject({ running: 1, queued: 0, live: 1 });
    expect(await harness.engine.cancel(harness.scope(), running.taskId)).toBe("canceled");
    await turns(5);
    expect(started).toEqual(["running"]);
  });

  test("of a task that waits for its caller ends it immediately", async () => {
    await using harness = await openHarness({ agents: scripted(async (task) => void (await task.ask("Well?"))) });
    const { id } = await harness.send("go");
    expect(await harness.engine.cancel(harness.scope(), id)).toBe("canceled");
    expect(await harness.story(id)).toEqual(["working", "input-required:Well?", "canceled"]);
  });

  test("of a parked task ends it without starting its run again", async () => {
    let starts = 0;
    await using harness = await openHarness({
      parkAfter: 1000,
      agents: scripted(async (task) => {
        starts += 1;
        await task.ask("Well?");
      }),
    });
    const { id } = await harness.send("go");
    await harness.advance(2000);
    expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0 });
    expect(await harness.engine.cancel(harness.scope(), id)).toBe("canceled");
    expect(starts).toBe(1);
    expect(await harness.story(id)).toEqual(["working", "input-required:Well?", "canceled"]);
  });

  describe("of a task whose agent has onCancel: resume", () => {
    const undone: unknown[] = [];
    let starts = 0;
    const undoing = scripted(
      async (task) => {
        starts += 1;
        const held = await task.step("hold", () => (task.signal.aborted ? "nothing" : "a room"));
        if (task.signal.aborted) undone.push([held, task.signal.reason]);
        task.signal.throwIfAborted();
        await task.ask("Well?");
      },
      { onCancel: "resume" },
    );

    test("starts a parked run again with an aborted signal", async () => {
      starts = 0;
      undone.length = 0;
      await using harness = await openHarness({ parkAfter: 1000, agents: undoing });
      const { id } = await harness.send("go");
      await harness.advance(2000);
      expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0 });
      expect(await harness.engine.cancel(harness.scope(), id)).toBe("canceled");
      expect(starts).toBe(2);
      expect(undone).toEqual([["a room", expect.objectContaining({ reason: "canceled" })]]);
      expect(await harness.story(id)).toEqual(["working", "input-required:Well?", "canceled"]);
      expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0 });
    });

    test("starts the run again with an aborted signal after a restart of the server", async () => {
      starts = 0;
      undone.length = 0;
      const first = await openHarness({ agents: undoing });
      const { id } = await first.send("go");
      await using harness = await first.crash();
      expect(await harness.engine.cancel(harness.scope(), id)).toBe("canceled");
      expect(undone).toEqual([["a room", expect.objectContaining({ reason: "canceled" })]]);
    });

    test("cancels the task after the grace period if that run does not end", async () => {
      await using harness = await openHarness({
        parkAfter: 1000,
        agents: scripted(
          async (task) => {
            if (task.signal.aborted) await new Promise<never>(() => {});
            await task.ask("Well?");
          },
          { onCancel: "resume" },
        ),
      });
      const { id } = await harness.send("go");
      await harness.advance(2000);
      const canceled = harness.engine.cancel(harness.scope(), id);
      await harness.advance(10_000);
      expect(await canceled).toBe("canceled");
    });

    test("does not start a run that never ran", async () => {
      let ran = 0;
      await using harness = await openHarness({
        agents: scripted(
          async () => {
            ran += 1;
            await new Promise<never>(() => {});
          },
          { onCancel: "resume", concurrency: 1 },
        ),
      });
      await harness.start("first");
      const { taskId } = await harness.start("second");
      const canceled = harness.engine.cancel(harness.scope(), taskId);
      await turns(5);
      await harness.advance(10);
      expect(await canceled).toBe("canceled");
      expect(ran).toBe(1);
    });
  });

  test("while a question is being stored ends the run instead of leaving it waiting", async () => {
    await using harness = await openHarness({ agents: scripted(async (task) => void (await task.ask("Well?"))) });
    harness.store.hold();
    const ticket = await harness.begin("go");
    await harness.until(() => harness.store.held === 1);
    harness.store.release();
    await ticket.stored();
    harness.store.hold();
    await harness.until(() => harness.store.held === 1);
    const canceled = harness.engine.cancel(harness.scope(), ticket.taskId);
    harness.store.release();
    expect(await canceled).toBe("canceled");
    await turns(2);
    expect(harness.engine.counts()).toMatchObject({ orphans: 0, live: 0 });
  });

  test("returns repeated, too-late or not-found", async () => {
    await using harness = await openHarness({ agents: [polite, scripted(async () => {}, { id: "quick" })] });
    const { taskId } = await harness.start("go");
    expect(await harness.engine.cancel(harness.scope(), taskId)).toBe("canceled");
    expect(await harness.engine.cancel(harness.scope(), taskId)).toBe("repeated");
    const quick = await harness.send("go", { agent: "quick" });
    expect(await harness.engine.cancel(harness.scope({ agent: "quick" }), quick.id)).toBe("too-late");
    // Safe cast: an unknown id.
    expect(await harness.engine.cancel(harness.scope(), "nobody" as TaskId)).toBe("not-found");
  });
});
