import { of, Subject, throwError } from "rxjs";
import { describe, expect, test } from "vitest";
import { createDeferred } from "../../internal/deferred.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import { type RunFunction, TaskAborted, type TaskContext } from "../agent/agent.ts";
import { TaskFailure } from "../agent/task-failure.ts";

/** Runs a task and returns its log in short form. */
async function storyOf(run: RunFunction): Promise<string[]> {
  await using harness = await openHarness({ agents: scripted(run) });
  const { id } = await harness.send("go");
  return await harness.story(id);
}

describe("the result of a run", () => {
  test("an async function's return value is the result, in one last chunk", async () => {
    expect(await storyOf(async (task) => `did ${task.text}`)).toEqual(["working", "result=did go!", "completed"]);
    expect(await storyOf(async () => ({ answer: 42 }))).toEqual(["working", 'result={"answer":42}!', "completed"]);
    expect(await storyOf(async () => null)).toEqual(["working", "result=null!", "completed"]);
  });

  test("a function that returns nothing leaves no artifact", async () => {
    expect(await storyOf(async () => {})).toEqual(["working", "completed"]);
  });

  test("an async generator's yields are appended to the result", async () => {
    const story = await storyOf(async function* () {
      yield "a";
      yield "b";
      yield { n: 1 };
    });
    expect(story).toEqual(["working", "result=a", "result+=b", 'result+={"n":1}!', "completed"]);
  });

  test("an Observable's values are appended to the result, returned at once or by a promise", async () => {
    const expected = ["working", "result=a", "result+=b!", "completed"];
    expect(await storyOf(() => of("a", "b"))).toEqual(expected);
    expect(await storyOf(async () => of("a", "b"))).toEqual(expected);
  });

  test("a returned AsyncIterable is read like a generator", async () => {
    async function* chunks(): AsyncGenerator<string, void> {
      yield "a";
      yield "b";
    }
    const expected = ["working", "result=a", "result+=b!", "completed"];
    expect(await storyOf(() => chunks())).toEqual(expected);
    expect(await storyOf(async () => chunks())).toEqual(expected);
  });

  test("an Observable that fails, fails the task after its values", async () => {
    const story = await storyOf(() => throwError(() => new Error("inner secret")));
    expect(story).toEqual(["working", "failed:The agent failed while working on this task."]);
  });

  test("an Observable that is too fast fails the task with a named error", async () => {
    await using harness = await openHarness({
      limits: { observableBuffer: 2 },
      agents: scripted(() => {
        const subject = new Subject<string>();
        setImmediate(() => {
          for (let n = 0; n < 100; n += 1) subject.next(`${n}`);
        });
        return subject;
      }),
    });
    const task = await harness.send("go");
    expect(task.status.state).toBe("failed");
    expect(JSON.stringify(harness.logs.map(({ details }) => String(Reflect.get(details ?? {}, "error"))))).toContain(
      "ObservableOverflow",
    );
  });
});

describe("the end of a run", () => {
  test("an unknown error fails the task; only the log has its reason", async () => {
    const reported: unknown[] = [];
    await using harness = await openHarness({
      agents: scripted(async () => {
        throw new Error("password=hunter2 at /etc/secrets");
      }),
      hooks: { on: { error: (error, task) => void reported.push([error, task?.id]) } },
    });
    const task = await harness.send("go");
    expect(task.status.state).toBe("failed");
    expect(JSON.stringify(task) + JSON.stringify(await harness.log(task.id))).not.toContain("hunter2");
    expect(reported).toEqual([[new Error("password=hunter2 at /etc/secrets"), task.id]]);
  });

  test("a function that throws before it returns a promise fails the task as well", async () => {
    const story = await storyOf(() => {
      throw new Error("at once");
    });
    expect(story.at(-1)).toBe("failed:The agent failed while working on this task.");
  });

  test("the message and data of a TaskFailure reach the caller, its cause does not", async () => {
    await using harness = await openHarness({
      agents: scripted(async () => {
        throw new TaskFailure("No such city", { data: { city: "Xyz" }, cause: new Error("hunter2") });
      }),
    });
    const task = await harness.send("go");
    expect(task.status.message?.parts).toEqual([{ text: "No such city" }, { data: { city: "Xyz" } }]);
    expect(JSON.stringify(task)).not.toContain("hunter2");
  });

  test("reject() ends the task as rejected, with its reason", async () => {
    expect(await storyOf(async (task) => task.reject("Not today."))).toEqual(["working", "rejected:Not today."]);
  });

  test("a run that returns while its question is open completes via working", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        void task.ask("Sure?");
        await task.flush();
        await turns(3);
      }),
    });
    const { id } = await harness.send("go");
    await harness.untilState(id, "completed");
    expect(await harness.story(id)).toEqual(["working", "input-required:Sure?", "working", "completed"]);
  });

  test("output that is not JSON fails the task and nothing of it is written", async () => {
    const story = await storyOf(async () => ({ n: Number.NaN }));
    expect(story).toEqual(["working", "failed:The agent failed while working on this task."]);
  });
});

describe("the output of a run", () => {
  test("keeps the order of the calls, awaited or not", async () => {
    const story = await storyOf(async (task) => {
      const log = task.artifact("log");
      void log.write("1");
      void task.status("half");
      void log.write("2");
      await task.artifact("other").write("x");
      void log.write("3");
      await task.step("s", () => void log.write("4"));
      void log.end("5");
    });
    expect(story).toEqual([
      "working",
      "log=1",
      "working:half",
      "log+=2",
      "other=x",
      "log+=3",
      "log+=4",
      "log+=5!",
      "other+=!",
      "completed",
    ]);
  });

  test("waits at 256 uncommitted events, and continues when they are committed", async () => {
    let written = 0;
    const proceed = createDeferred();
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await proceed.promise;
        for (; written < 1000; written += 1) await task.artifact("a").write("x");
      }),
    });
    const ticket = await harness.start("go");
    harness.store.hold();
    proceed.resolve();
    await harness.until(() => harness.store.held === 1);
    await turns(20);
    // The write that reached the limit is accepted, but its promise waits.
    expect(written).toBe(255);
    harness.store.release();
    await harness.settled(ticket);
    expect(written).toBe(1000);
    expect((await harness.log(ticket.taskId)).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 1002 }, (_, n) => n + 1),
    );
  });

  test("waits at 256 KB of uncommitted events", async () => {
    let written = 0;
    const proceed = createDeferred();
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await proceed.promise;
        for (; written < 20; written += 1) await task.artifact("a").write("x".repeat(64 * 1024));
      }),
    });
    const ticket = await harness.start("go");
    harness.store.hold();
    proceed.resolve();
    await harness.until(() => harness.store.held === 1);
    await turns(20);
    expect(written).toBe(3);
    harness.store.release();
    await harness.settled(ticket);
    expect(written).toBe(20);
  });

  test("after the end is rejected, and a rejection that is not awaited does not end the process", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    try {
      let late: TaskContext | undefined;
      await using harness = await openHarness({
        agents: scripted(async (task) => {
          late = task;
        }),
      });
      const task = await harness.send("go");
      void late?.status("late");
      void late?.artifact("a").write("late");
      void late?.artifact("a").end();
      void late?.flush();
      void late?.ask("late?");
      void late?.next();
      void late?.step("late", () => 1);
      void late?.sleep(1);
      void late?.requireAuth("late");
      await expect(late?.artifact("a").write("late")).rejects.toThrow("has ended");
      await expect(late?.ask("late")).rejects.toThrow("has ended");
      await turns(5);
      expect(unhandled).toEqual([]);
      expect(await harness.story(task.id)).toEqual(["working", "completed"]);
      expect(harness.logs.some(({ message }) => message === "A call of the run failed")).toBe(true);
    } finally {
      process.off("unhandledRejection", listen);
    }
  });

  test("of an earlier turn that was not awaited does not get into the next turn", async () => {
    let first: TaskContext | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        if (first !== undefined) {
          await expect(first.artifact("a").write("from the first turn")).rejects.toThrow(
            "it can write nothing any more",
          );
          return "second";
        }
        first = task;
        void task.sleep(10).then(() => task.artifact("a").write("from the first turn, having slept"));
        await task.flush();
        // Safe: the id of an existing task.
        await harness.start({ taskId: task.id as TaskId, parts: [{ text: "more" }] });
        return "first";
      }),
    });
    const ticket = await harness.begin("go");
    await harness.untilState(ticket.taskId, "completed");
    await harness.advance(1000);
    expect(await harness.story(ticket.taskId)).toEqual(["working", "result=first!", "result+=second!", "completed"]);
  });

  test("a rejected wait that is not awaited does not end the process when the task is canceled", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    try {
      await using harness = await openHarness({
        agents: scripted(async (task) => {
          void task.next();
          void task.sleep(10_000);
          await task.ask("Well?");
        }),
      });
      const { id } = await harness.send("go");
      expect(await harness.engine.cancel(harness.scope(), id)).toBe("canceled");
      await turns(5);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", listen);
    }
  });
});

describe("lastChunk", () => {
  test("is set on the last chunk if that is uncommitted at the end", async () => {
    expect(
      await storyOf(async (task) => {
        await task.artifact("a").write("1");
        await task.artifact("b").write("2");
      }),
    ).toEqual(["working", "a=1!", "b=2!", "completed"]);
  });

  test("is set by an empty closing chunk if the last chunk is committed", async () => {
    expect(
      await storyOf(async (task) => {
        await task.artifact("a").write("1");
        await task.flush();
      }),
    ).toEqual(["working", "a=1", "a+=!", "completed"]);
  });

  test("is set by end(): with its content, on the uncommitted chunk, or by a closing chunk", async () => {
    expect(
      await storyOf(async (task) => {
        await task.artifact("a").write("1");
        await task.artifact("a").end("2");
        await task.flush();
        await task.artifact("b").write("1");
        await task.artifact("b").end();
        await task.flush();
        await task.artifact("c").write("1");
        await task.flush();
        await task.artifact("c").end();
      }),
    ).toEqual(["working", "a=1", "a+=2!", "b=1!", "c=1", "c+=!", "completed"]);
  });

  test("is also set when the run fails", async () => {
    const story = await storyOf(async (task) => {
      await task.artifact("a").write("1");
      await task.flush();
      await task.artifact("b").write("1");
      throw new TaskFailure("no");
    });
    expect(story).toEqual(["working", "a=1", "b=1!", "a+=!", "failed:no"]);
  });

  test("is committed with the terminal status, and does not change the artifact", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.artifact("text").write("1");
        await task.artifact("data").write({ n: 1 });
        await task.artifact("empty").write("");
        await task.flush();
      }),
    });
    const { id, artifacts } = await harness.send("go");
    const last = harness.store.commits.at(-1)?.at(-1);
    if (last?.kind !== "write") throw new Error("The last operation should be a write.");
    expect([last.entries.length, last.end?.head.state]).toEqual([3, "completed"]);
    const whole = [
      { artifactId: "text", name: "text", parts: [{ text: "1" }] },
      { artifactId: "data", name: "data", parts: [{ data: { n: 1 } }] },
      { artifactId: "empty", name: "empty", parts: [{ text: "" }] },
    ];
    expect(artifacts).toEqual(whole);
    expect((await harness.get(id)).artifacts).toEqual(whole);
  });

  test("is set once for an artifact, even if a message starts another turn instead of the end", async () => {
    const waiting: (() => void)[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.artifact(task.text).write("1");
        await task.flush();
        await new Promise<void>((resolve) => waiting.push(resolve));
      }),
    });
    const { taskId } = await harness.start("first");
    await harness.until(() => waiting.length === 1);
    // The message is queued before the run returns, so it is stored before the end.
    const posted = harness.start({ taskId, parts: [{ text: "second" }] });
    for (let turn = 0; turn < 3; turn++) await Promise.resolve();
    waiting[0]?.();
    await posted;
    await harness.until(() => waiting.length === 2);
    expect(harness.store.outcomes).toContain("inbox");
    waiting[1]?.();
    await harness.untilState(taskId, "completed");
    const story = await harness.story(taskId);
    expect(story.filter((line) => line === "first+=!" || line === "second+=!")).toEqual(["first+=!", "second+=!"]);
    expect(story.slice(-2)).toEqual(["second+=!", "completed"]);
  });

  test("is not set again after a crash, although the artifact continues after end()", async () => {
    let stuck = 0;
    let harness = await openHarness({
      agents: scripted(async (task) => {
        const artifact = task.artifact("a");
        await artifact.write("1");
        await task.flush();
        await artifact.end();
        await artifact.write("2");
        await task.flush();
        await artifact.end();
        await task.flush();
        stuck = task.attempt;
        if (task.attempt < 3) await new Promise<never>(() => {});
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.until(() => stuck === 1);
    harness = await harness.crash();
    await harness.until(() => stuck === 2);
    harness = await harness.crash();
    await harness.untilState(taskId, "completed");
    expect(await harness.story(taskId)).toEqual(["working", "a=1", "a+=!", "a+=2", "a+=!", "completed"]);
    expect((await harness.get(taskId)).artifacts?.[0]?.parts).toEqual([{ text: "12" }]);
    await harness[Symbol.asyncDispose]();
  });

  test("is set for artifacts of an earlier process by the process that ends the task", async () => {
    let isStuck = false;
    let harness = await openHarness({
      agents: scripted(
        async (task) => {
          await task.artifact("a").write("1");
          await task.artifact("b").end("2");
          await task.flush();
          isStuck = true;
          await new Promise<never>(() => {});
        },
        { onRestart: "fail" },
      ),
    });
    const { taskId } = await harness.start("go");
    await harness.until(() => isStuck);
    harness = await harness.crash();
    await harness.untilState(taskId, "failed");
    expect((await harness.story(taskId)).slice(0, 4)).toEqual(["working", "a=1", "b=2!", "a+=!"]);
    await harness[Symbol.asyncDispose]();
  });

  test("is set without the transform, which only sees content of the agent's code", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.artifact("a").write("1");
        await task.flush();
      }),
      hooks: {
        transform: (event) =>
          event.kind === "artifact"
            ? { ...event, artifact: { ...event.artifact, parts: [...event.artifact.parts, { text: "?" }] } }
            : event,
      },
    });
    const { id, artifacts } = await harness.send("go");
    expect(await harness.story(id)).toEqual(["working", "a=1?", "a+=!", "completed"]);
    expect(artifacts?.[0]?.parts).toEqual([{ text: "1?" }]);
  });

  test("is set in a task at its size limit", async () => {
    await using harness = await openHarness({
      limits: { maxTaskBytes: 2000 },
      agents: scripted(async (task) => {
        for (;;) {
          await task.artifact("a").write("x".repeat(100));
          await task.flush();
        }
      }),
    });
    const { id } = await harness.send("go");
    expect((await harness.story(id)).at(-2)).toBe("a+=!");
  });
});

describe("limits", () => {
  const limited = async (
    limits: NonNullable<Parameters<typeof openHarness>[0]["limits"]>,
    run: (task: TaskContext) => Promise<void>,
  ): Promise<{ story: string[]; caught: unknown[] }> => {
    const caught: unknown[] = [];
    await using harness = await openHarness({
      limits,
      agents: scripted(async (task) => {
        try {
          await run(task);
        } catch (error) {
          caught.push(error instanceof TaskFailure ? error.code : error);
          throw error;
        }
      }),
    });
    const { id } = await harness.send("go");
    return { story: await harness.story(id), caught };
  };

  test("an event above maxEventBytes is rejected with a named error; earlier events stay", async () => {
    const { story, caught } = await limited({ maxEventBytes: 200 }, async (task) => {
      await task.artifact("a").write("small");
      await task.artifact("a").write("x".repeat(300));
    });
    expect(caught).toEqual(["event-too-large"]);
    expect(story.slice(0, 2)).toEqual(["working", "a=small!"]);
    expect(story.at(-1)).toMatch(/^failed:Limit exceeded: an event may have at most 200 bytes/);
  });

  test("an event beyond maxTaskBytes is rejected with a named error; earlier events stay, and the task can still fail", async () => {
    const { story, caught } = await limited({ maxTaskBytes: 2000 }, async (task) => {
      for (;;) await task.artifact("a").write("x".repeat(100));
    });
    expect(caught).toEqual(["task-too-large"]);
    expect(story.filter((line) => line.startsWith("a")).length).toBeGreaterThan(3);
    expect(story.at(-1)).toMatch(/^failed:Limit exceeded: the events of a task/);
  });

  test("statuses count towards maxTaskBytes", async () => {
    const { caught } = await limited({ maxTaskBytes: 5000 }, async (task) => {
      for (let n = 0; n < 1000; n += 1) await task.status("still at it, and saying so at some length");
    });
    expect(caught).toEqual(["task-too-large"]);
    const large = await limited({ maxEventBytes: 1000 }, async (task) => task.status("x".repeat(2000)));
    expect(large.caught).toEqual(["event-too-large"]);
  });

  test("an artifact beyond maxArtifacts is rejected", async () => {
    const { story, caught } = await limited({ maxArtifacts: 2 }, async (task) => {
      for (const name of ["a", "b", "a", "c"]) await task.artifact(name).write("1");
    });
    expect(caught).toEqual(["too-many-artifacts"]);
    expect(story.slice(0, 4)).toEqual(["working", "a=1", "b=1!", "a+=1!"]);
  });

  test("the result of a step above maxStepBytes is rejected with a named error", async () => {
    const { caught } = await limited({ maxStepBytes: 100 }, async (task) => {
      await task.step("big", () => "x".repeat(200));
    });
    expect(caught).toEqual(["step-too-large"]);
  });

  test("a step beyond maxSteps is rejected", async () => {
    const { caught } = await limited({ maxSteps: 3 }, async (task) => {
      for (let n = 0; n < 10; n += 1) await task.step("s", () => n);
    });
    expect(caught).toEqual(["too-many-steps"]);
  });
});

describe("the deadline", () => {
  test("fails the task as timed out when the run stops", async () => {
    let reason: unknown;
    await using harness = await openHarness({
      agents: scripted(
        async (task) => {
          await new Promise<void>((resolve) => task.signal.addEventListener("abort", () => resolve()));
          reason = task.signal.reason;
          task.signal.throwIfAborted();
        },
        { timeout: 5000 },
      ),
    });
    const ticket = await harness.start("go");
    await harness.advance(4900);
    expect((await harness.get(ticket.taskId)).status.state).toBe("working");
    await harness.advance(200);
    await harness.settled(ticket);
    expect(await harness.story(ticket.taskId)).toEqual(["working", "failed:Task timed out"]);
    expect(reason).toBeInstanceOf(TaskAborted);
    expect(reason).toMatchObject({ reason: "timeout" });
  });

  test("fails the task even if the run does not stop", async () => {
    await using harness = await openHarness({
      agents: scripted(() => new Promise<void>(() => {}), { timeout: 5000 }),
      cancelGrace: 1000,
    });
    const ticket = await harness.start("go");
    await harness.advance(6500);
    await harness.settled(ticket);
    expect(await harness.story(ticket.taskId)).toEqual(["working", "failed:Task timed out"]);
    expect(harness.engine.counts()).toMatchObject({ orphans: 1, running: 1 });
  });

  test("is extended by the time spent waiting for the caller", async () => {
    await using harness = await openHarness({
      agents: scripted(
        async (task) => {
          await task.ask("Well?");
          await new Promise<void>((_, reject) =>
            task.signal.addEventListener("abort", () => reject(task.signal.reason)),
          );
        },
        { timeout: 5000 },
      ),
      parkAfter: 1_000_000,
    });
    const asked = await harness.send("go");
    await harness.advance(60_000);
    expect((await harness.get(asked.id)).status.state).toBe("input-required");
    const ticket = await harness.start({ taskId: asked.id, parts: [{ text: "yes" }] });
    await harness.advance(4500);
    expect((await harness.get(asked.id)).status.state).toBe("working");
    await harness.advance(1000);
    await harness.settled(ticket);
    expect((await harness.get(asked.id)).status).toMatchObject({
      state: "failed",
      message: { parts: [{ text: "Task timed out" }] },
    });
  });
});
