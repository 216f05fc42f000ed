import { describe, expect, test } from "vitest";
import { z } from "zod";
import { A2AError } from "../../protocol/error.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import { agent, type Output, type RunFunction, skill } from "../agent/agent.ts";

const asking = scripted(async (task) => task.ask("Well?"));
const waiting: RunFunction = (task) =>
  new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));

describe("a message to a task", () => {
  test("that is running is queued and never starts a second run", async () => {
    let runs = 0;
    let most = 0;
    let go: (() => void) | undefined;
    const received: (string | undefined)[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        runs += 1;
        most = Math.max(most, runs);
        await new Promise<void>((resolve) => (go = resolve));
        for (
          let message = await task.next({ wait: false });
          message !== undefined;
          message = await task.next({ wait: false })
        ) {
          received.push(message.parts[0]?.text);
        }
        runs -= 1;
      }),
    });
    const { taskId } = await harness.start("go");
    for (const text of ["one", "two", "three"]) await harness.start({ taskId, parts: [{ text }] });
    await turns(10);
    expect(harness.engine.counts()).toMatchObject({ running: 1 });
    go?.();
    await harness.untilState(taskId, "completed");
    expect({ most, received }).toEqual({ most: 1, received: ["one", "two", "three"] });
    const { history } = await harness.get(taskId);
    expect(history?.map(({ parts }) => parts[0]?.text)).toEqual(["go", "one", "two", "three"]);
  });

  test("wakes a run that waits in next()", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => `received ${(await task.next()).parts[0]?.text}`),
    });
    const { taskId } = await harness.start("go");
    const task = await harness.send({ taskId, parts: [{ text: "hello" }] });
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: "received hello" }]);
  });

  test("that is unread when the run returns starts another turn before the task completes", async () => {
    let go: (() => void) | undefined;
    const turnsBegun: unknown[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        turnsBegun.push([task.text, task.history.length, task.artifacts.length]);
        await new Promise<void>((resolve) => (go = resolve));
        return `${task.text} done`;
      }),
    });
    const { taskId } = await harness.start("first");
    const ticket = await harness.start({ taskId, parts: [{ text: "second" }] });
    go?.();
    await harness.until(() => turnsBegun.length === 2);
    expect((await harness.get(taskId)).status.state).toBe("working");
    go?.();
    await harness.settled(ticket);
    expect(turnsBegun).toEqual([
      ["first", 1, 0],
      ["second", 2, 1],
    ]);
    const story = await harness.story(taskId);
    expect(story.filter((line) => line === "completed")).toHaveLength(1);
    expect((await harness.get(taskId)).artifacts?.[0]?.parts).toEqual([{ text: "first donesecond done" }]);
  });

  test("that is stored in the commit that would complete the task starts another turn; a later message is refused", async () => {
    let go: (() => void) | undefined;
    const started: string[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        started.push(task.text);
        if (task.text === "first") await new Promise<void>((resolve) => (go = resolve));
      }),
    });
    const { taskId } = await harness.start("first");
    // The message is queued before the run returns, so it is stored before the end.
    const posted = harness.start({ taskId, parts: [{ text: "second" }] });
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    go?.();
    const ticket = await posted;
    await harness.settled(ticket);
    expect(started).toEqual(["first", "second"]);
    expect(harness.store.outcomes).toContain("inbox");
    expect((await harness.story(taskId)).filter((line) => line === "completed")).toHaveLength(1);
    await expect(harness.start({ taskId, parts: [{ text: "third" }] })).rejects.toMatchObject({
      code: "unsupported-operation",
      metadata: { taskId, state: "completed" },
    });
  });

  test("at the same time as its end is either read or refused", async () => {
    for (let delay = 0; delay < 10; delay += 1) {
      let go: (() => void) | undefined;
      const started: string[] = [];
      await using harness = await openHarness({
        agents: scripted(async (task) => {
          started.push(task.text);
          if (task.text === "first") await new Promise<void>((resolve) => (go = resolve));
        }),
      });
      const { taskId } = await harness.start("first");
      if (delay < 5) go?.();
      const posted = harness.start({ taskId, parts: [{ text: "second" }] }).then(
        () => "accepted",
        (error: unknown) => (error instanceof A2AError ? error.code : error),
      );
      for (let n = 0; n < delay % 5; n += 1) await Promise.resolve();
      go?.();
      const result = await posted;
      await harness.untilState(taskId, "completed");
      expect([result, started]).toEqual(
        result === "accepted" ? ["accepted", ["first", "second"]] : ["unsupported-operation", ["first"]],
      );
      expect((await harness.story(taskId)).filter((line) => line === "completed")).toHaveLength(1);
    }
  });

  test("that fails is added to the history unread", async () => {
    let go: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async () => {
        await new Promise<void>((resolve) => (go = resolve));
        throw new Error("broken");
      }),
    });
    const { taskId } = await harness.start("first");
    const ticket = await harness.start({ taskId, parts: [{ text: "second" }] });
    go?.();
    await harness.settled(ticket);
    const { history, status } = await harness.get(taskId);
    expect(status.state).toBe("failed");
    expect(history?.map(({ parts }) => parts[0]?.text)).toEqual([
      "first",
      "second",
      "The agent failed while working on this task.",
    ]);
  });

  test("is refused if the task is unknown, ended, in another context, or of another caller", async () => {
    await using harness = await openHarness({ agents: [asking, scripted(async () => {}, { id: "quick" })] });
    const { id, contextId } = await harness.send("go");
    const parts = [{ text: "x" }];
    // Safe cast: unknown ids.
    await expect(harness.start({ taskId: "nobody" as TaskId, parts })).rejects.toMatchObject({
      code: "task-not-found",
    });
    await expect(harness.start({ taskId: id, contextId: "elsewhere" as ContextId, parts })).rejects.toMatchObject({
      code: "invalid-params",
      violations: [{ field: "message.contextId" }],
    });
    for (const who of [{ owner: "eve" }, { tenant: "other" }, { agent: "quick" }]) {
      await expect(harness.start({ taskId: id, parts }, who)).rejects.toMatchObject({
        code: "task-not-found",
        message: "Task not found",
      });
    }
    await harness.send({ taskId: id, contextId, parts });
    await expect(harness.start({ taskId: id, parts })).rejects.toMatchObject({ code: "unsupported-operation" });
    expect((await harness.get(id)).history).toHaveLength(3);
  });
});

describe("limits for messages", () => {
  test("concurrency and queue: messages over the limit get resource-exhausted, also concurrent ones; accepted tasks complete", async () => {
    const started: string[] = [];
    const go: (() => void)[] = [];
    await using harness = await openHarness({
      agents: scripted(
        async (task) => {
          started.push(task.text);
          await new Promise<void>((resolve) => go.push(resolve));
        },
        { concurrency: 2, queue: 1 },
      ),
    });
    const results = await Promise.allSettled(["1", "2", "3", "4", "5"].map((text) => harness.start(text)));
    expect(results.map((result) => (result.status === "fulfilled" ? "accepted" : result.reason.code))).toEqual([
      "accepted",
      "accepted",
      "accepted",
      "resource-exhausted",
      "resource-exhausted",
    ]);
    expect(started).toEqual(["1", "2"]);
    expect(harness.engine.counts()).toMatchObject({ running: 2, queued: 1 });
    go.shift()?.();
    await harness.until(() => started.length === 3);
    while (go.length > 0) go.shift()?.();
    await harness.until(() => harness.engine.counts().live === 0);
    expect(
      (await harness.engine.list({ scope: harness.scope(), state: "completed", limit: 10, artifacts: false })).total,
    ).toBe(3);
  });

  test("maxLiveTasks", async () => {
    await using harness = await openHarness({ agents: scripted(waiting), limits: { maxLiveTasks: 2 } });
    await harness.start("1");
    await harness.start("2");
    await expect(harness.start("3")).rejects.toMatchObject({ code: "resource-exhausted", retryAfter: 5 });
  });

  test("maxInbox", async () => {
    await using harness = await openHarness({ agents: scripted(waiting), limits: { maxInbox: 2 } });
    const { taskId } = await harness.start("go");
    const posts = await Promise.allSettled(["a", "b", "c"].map((text) => harness.start({ taskId, parts: [{ text }] })));
    expect(posts.map((post) => (post.status === "fulfilled" ? "accepted" : post.reason.code))).toEqual([
      "accepted",
      "accepted",
      "resource-exhausted",
    ]);
    expect(await harness.engine.cancel(harness.scope(), taskId)).toBe("canceled");
    expect((await harness.get(taskId)).history?.map(({ parts }) => parts[0]?.text)).toEqual(["go", "a", "b"]);
  });

  test("maxHistory refuses messages, also to a parked task, and loses no accepted message", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        for (;;) await task.ask("More?");
      }),
      limits: { maxHistory: 4 },
      parkAfter: 1000,
    });
    const { id } = await harness.send("1");
    await harness.send({ taskId: id, parts: [{ text: "2" }] });
    await expect(harness.start({ taskId: id, parts: [{ text: "3" }] })).rejects.toMatchObject({
      code: "resource-exhausted",
    });
    await harness.advance(2000);
    expect(harness.engine.counts().live).toBe(0);
    await expect(harness.start({ taskId: id, parts: [{ text: "4" }] })).rejects.toMatchObject({
      code: "resource-exhausted",
    });
    expect((await harness.get(id)).history).toHaveLength(4);
  });

  test("maxMessageBytes refuses larger messages, measured in bytes of UTF-8", async () => {
    await using harness = await openHarness({ agents: asking, limits: { maxMessageBytes: 1000 } });
    await expect(harness.start("x".repeat(2000))).rejects.toMatchObject({ code: "payload-too-large" });
    await expect(harness.start("\u20ac".repeat(400))).rejects.toMatchObject({ code: "payload-too-large" });
    const { id } = await harness.send("go");
    await expect(harness.start({ taskId: id, parts: [{ text: "x".repeat(2000) }] })).rejects.toMatchObject({
      code: "payload-too-large",
    });
    expect((await harness.engine.list({ scope: harness.scope(), limit: 10, artifacts: false })).total).toBe(1);
  });
});

describe("reply", () => {
  test("answers with a message and no task; undefined creates a task", async () => {
    await using harness = await openHarness({
      agents: scripted(async () => "worked", {
        reply: (message) => (message.parts[0]?.text === "hi" ? { greeting: "hello" } : undefined),
      }),
    });
    // Safe cast: the caller chooses the context id.
    const replied = await harness.submit({ parts: [{ text: "hi" }], contextId: "mine" as ContextId });
    expect(replied).toMatchObject({
      kind: "message",
      message: { role: "agent", parts: [{ data: { greeting: "hello" } }], contextId: "mine" },
    });
    expect(harness.store.commits).toEqual([]);
    expect((await harness.send("work")).status.state).toBe("completed");
  });

  test("that throws hides the error from the caller and reports it to the hooks", async () => {
    const reported: unknown[] = [];
    await using harness = await openHarness({
      agents: scripted(async () => {}, {
        reply: () => {
          throw new Error("hunter2");
        },
      }),
      hooks: { on: { error: (error) => void reported.push(error) } },
    });
    const error = await harness.submit("hi").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "internal", message: "The agent failed while answering." });
    expect(reported).toEqual([new Error("hunter2")]);
    expect(harness.store.commits).toEqual([]);
  });

  test("that returns invalid output is an invalid-agent-response without details; the hooks get the error", async () => {
    const reported: unknown[] = [];
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    for (const output of [10n, cyclic, () => "hunter2"]) {
      await using harness = await openHarness({
        // Safe cast: authors without types can return anything.
        agents: scripted(async () => {}, { reply: () => output as Output }),
        hooks: { on: { error: (error) => void reported.push(error) } },
      });
      await expect(harness.submit("hi")).rejects.toMatchObject({
        code: "invalid-agent-response",
        message: "The agent returned invalid output.",
      });
      expect(harness.store.commits).toEqual([]);
    }
    expect(reported).toEqual(Array.from({ length: 3 }, () => expect.any(TypeError)));
  });

  test("may throw an A2AError", async () => {
    await using harness = await openHarness({
      agents: scripted(async () => {}, {
        reply: () => {
          throw new A2AError("content-type-not-supported", "No pictures, please.");
        },
      }),
    });
    await expect(harness.submit("hi")).rejects.toMatchObject({ code: "content-type-not-supported" });
  });
});

describe("routing", () => {
  const base = { name: "Skilled", description: "d", version: "1" };
  const add = skill({
    id: "add",
    name: "Add",
    description: "d",
    tags: [],
    input: z.object({ a: z.number(), b: z.number() }),
    run: async (task) => task.data.a + task.data.b,
  });
  const shout = skill({
    id: "shout",
    name: "Shout",
    description: "d",
    tags: [],
    input: z.object({ text: z.string() }),
    run: async (task) => task.data.text.toUpperCase(),
  });

  test("selects the skill whose schema accepts the data", async () => {
    await using harness = await openHarness({ agents: agent({ ...base, skills: [add, shout] }) });
    expect((await harness.send({ parts: [{ data: { a: 1, b: 2 } }] })).artifacts?.[0]?.parts).toEqual([{ data: 3 }]);
    expect((await harness.send('{"text":"hey"}')).artifacts?.[0]?.parts).toEqual([{ text: "HEY" }]);
  });

  test("without a matching skill creates a rejected task with the expectations of the skills", async () => {
    await using harness = await openHarness({ agents: agent({ ...base, skills: [add, shout] }) });
    const task = await harness.send("what?");
    expect(task.status.state).toBe("rejected");
    const text = task.status.message?.parts[0]?.text ?? "";
    expect(text).toContain('"add"');
    expect(text).toContain('"shout"');
    expect(await harness.story(task.id)).toHaveLength(1);
    expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0 });
  });

  test("whose route() throws hides the error and creates no task", async () => {
    const reported: unknown[] = [];
    await using harness = await openHarness({
      agents: agent({
        ...base,
        skills: [add, shout],
        route: () => {
          throw new Error("hunter2");
        },
      }),
      hooks: { on: { error: (error) => void reported.push(error) } },
    });
    await expect(harness.submit("what?")).rejects.toMatchObject({
      code: "internal",
      message: "The agent failed while answering.",
    });
    expect(reported).toEqual([new Error("hunter2")]);
    expect(harness.store.commits).toEqual([]);
  });
});

describe("maxRunsPerOwner", () => {
  test("limits the tasks of each caller; further messages are refused and not stored, accepted tasks complete", async () => {
    const go: (() => void)[] = [];
    await using harness = await openHarness({
      agents: scripted(() => new Promise<void>((resolve) => go.push(resolve)), { concurrency: 3 }),
      limits: { maxRunsPerOwner: 2 },
    });
    const results = await Promise.allSettled([1, 2, 3].map((n) => harness.start(`${n}`, { owner: "ann" })));
    expect(results.map((result) => (result.status === "fulfilled" ? "accepted" : result.reason))).toMatchObject([
      "accepted",
      "accepted",
      { code: "resource-exhausted", retryAfter: 5 },
    ]);
    await harness.start("other", { owner: "bob" });
    for (let n = 0; n < 4; n += 1) await harness.start(`${n}`);
    const { total } = await harness.shared.list({
      scope: harness.scope({ owner: "ann" }),
      limit: 10,
      artifacts: false,
    });
    expect(total).toBe(2);
    for (let done = 0; done < 7; done += 1) {
      await harness.until(() => go.length > done);
      go[done]?.();
    }
    await harness.until(() => harness.engine.counts().live === 0);
    const { taskId } = await harness.start("again", { owner: "ann" });
    await harness.until(() => go.length === 8);
    go[7]?.();
    await harness.untilState(taskId, "completed", { owner: "ann" });
  });

  test("does not count parked tasks", async () => {
    await using harness = await openHarness({ agents: asking, limits: { maxRunsPerOwner: 1 }, parkAfter: 1000 });
    await harness.send("go", { owner: "ann" });
    await expect(harness.start("go", { owner: "ann" })).rejects.toMatchObject({ code: "resource-exhausted" });
    await harness.advance(3000);
    await harness.start("go", { owner: "ann" });
  });
});

describe("maxParts", () => {
  test("refuses a message with more parts before the agent sees it", async () => {
    const seen: string[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => void (await task.ask("Well?")), {
        reply: (message) => void seen.push(message.messageId),
      }),
      limits: { maxParts: 3 },
    });
    const parts = Array.from({ length: 4 }, () => ({ text: "x" }));
    await expect(harness.submit({ parts })).rejects.toMatchObject({ code: "payload-too-large" });
    expect(seen).toEqual([]);
    const { id } = await harness.send({ parts: parts.slice(1) });
    await expect(harness.submit({ taskId: id, parts })).rejects.toMatchObject({ code: "payload-too-large" });
    expect(await harness.shared.inbox(id)).toEqual([]);
  });
});

describe("a skill that the caller may not use", () => {
  const refuse = (wanted: string) => (id: string) => {
    if (id === wanted) throw new A2AError("permission-denied", `Not ${id}.`);
  };
  const started: string[] = [];
  const skilled = agent({
    name: "Skilled",
    description: "Has two skills.",
    version: "1",
    skills: [
      skill({
        id: "open",
        name: "Open",
        description: "For all.",
        tags: ["a"],
        async run(task) {
          started.push("open");
          await task.ask("More?");
        },
      }),
      skill({
        id: "closed",
        name: "Closed",
        description: "For few.",
        tags: ["b"],
        input: z.object({ key: z.string() }),
        async run() {
          started.push("closed");
        },
      }),
    ],
  });

  test("is refused however the message was routed to it, and nothing is stored", async () => {
    await using harness = await openHarness({ agents: skilled });
    const admitSkill = refuse("closed");
    const ways = [
      [{ parts: [{ data: { key: "k" } }] }, {}],
      [{ parts: [{ data: { key: "k" } }], metadata: { skillId: "closed" } }, {}],
      [{ parts: [{ data: { key: "k" } }] }, { metadata: { skillId: "closed" } }],
    ] as const;
    for (const [message, options] of ways) {
      await expect(harness.submit(message, { ...options, admitSkill })).rejects.toMatchObject({
        code: "permission-denied",
      });
    }
    const { total } = await harness.shared.list({ scope: harness.scope(), limit: 10, artifacts: false });
    expect([total, started]).toEqual([0, []]);
  });

  test("refuses a message to a task that this skill handles; a replay of the task does not check", async () => {
    started.length = 0;
    const asked: string[] = [];
    await using first = await openHarness({ agents: skilled });
    const { id } = await first.send("go", { metadata: { skillId: "open" }, admitSkill: (id) => void asked.push(id) });
    expect(asked).toEqual(["open"]);
    const changing = { taskId: id, parts: [{ data: { key: "k" } }], metadata: { skillId: "closed" } };
    await expect(first.submit(changing, { admitSkill: refuse("closed") })).rejects.toMatchObject({
      code: "permission-denied",
    });
    expect(await first.shared.inbox(id)).toEqual([]);
    const answer = { taskId: id, parts: [{ text: "no" }] };
    const second = await first.crash();
    // Whether the task is running or parked: a caller who may not use the skill may not answer its questions.
    await expect(second.submit(answer, { admitSkill: refuse("open") })).rejects.toMatchObject({
      code: "permission-denied",
    });
    const done = await second.send(answer, { admitSkill: refuse("closed") });
    expect(done.status.state).toBe("completed");
  });

  test("is refused before reply() is called", async () => {
    const replying = { ...skilled, reply: () => "hello" };
    await using harness = await openHarness({ agents: replying });
    await expect(
      harness.submit({ metadata: { skillId: "closed" } }, { admitSkill: refuse("closed") }),
    ).rejects.toMatchObject({ code: "permission-denied" });
    expect(await harness.submit("hi", { admitSkill: refuse("closed") })).toMatchObject({ kind: "message" });
  });
});
