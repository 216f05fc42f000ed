import { describe, expect, test } from "vitest";
import { z } from "zod";
import { toolResultPart } from "../../../protocol/tool-part.ts";
import { openHarness, scripted, turns } from "../../../testing/engine-harness.ts";
import { everythingStored } from "../../../testing/everything-stored.ts";
import { agent, type TaskContext } from "../../agent/agent.ts";

describe("ask", () => {
  test("asks, waits and returns the answer; question and answer are in the history", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => `You said ${await task.ask("Which city?")}`),
    });
    const asked = await harness.send("plan");
    expect(asked.status).toMatchObject({ state: "input-required", message: { parts: [{ text: "Which city?" }] } });
    const task = await harness.send({ taskId: asked.id, parts: [{ text: "Oslo" }] });
    expect(await harness.story(task.id)).toEqual([
      "working",
      "input-required:Which city?",
      "working",
      "result=You said Oslo!",
      "completed",
    ]);
    expect(task.history?.map(({ role, parts }) => `${role}: ${parts[0]?.text}`)).toEqual([
      "user: plan",
      "agent: Which city?",
      "user: Oslo",
    ]);
  });

  test("with a schema returns its value, and asks again with the problem of an invalid answer", async () => {
    const schema = z.object({ count: z.number().int().min(1) });
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const { count } = await task.ask("How many?", { schema });
        return count + 1;
      }),
    });
    const { id } = await harness.send("go");
    const again = await harness.send({ taskId: id, parts: [{ data: { count: 0 } }] });
    expect(again.status.state).toBe("input-required");
    const parts = again.status.message?.parts ?? [];
    expect(parts[0]?.text).toMatch(/^That answer is not valid: count: /);
    expect(parts[1]?.text).toBe("How many?");
    const task = await harness.send({ taskId: id, parts: [{ text: '{"count": 2}' }] });
    expect(task.artifacts?.[0]?.parts).toEqual([{ data: 3 }]);
  });

  test("accepts only messages that arrived after its question was committed", async () => {
    const answers: string[] = [];
    const left: (string | undefined)[] = [];
    let go: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        // A message that the first turn leaves in the inbox begins another turn.
        if (answers.length > 0) return void left.push(task.text);
        await new Promise<void>((resolve) => (go = resolve));
        answers.push(await task.ask("Well?"));
        const message = await task.next({ wait: false });
        left.push(message?.parts[0]?.text);
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.start({ taskId, parts: [{ text: "early" }] });
    harness.store.hold();
    go?.();
    await harness.until(() => harness.store.held === 1);
    const meanwhile = harness.start({ taskId, parts: [{ text: "before it could be seen" }] });
    harness.store.release();
    await meanwhile;
    await harness.untilState(taskId, "input-required");
    await turns(10);
    // The sender of the first message could not see the question, which was not committed yet.
    expect(answers).toEqual([]);
    await harness.start({ taskId, parts: [{ text: "the answer" }] });
    await harness.untilState(taskId, "completed");
    expect(answers).toEqual(["the answer"]);
    expect(left).toEqual(["early", "before it could be seen"]);
  });

  test("a waiting send is not answered with a question that was asked before its message was consumed", async () => {
    const contexts: TaskContext[] = [];
    let next: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        contexts.push(task);
        void task.ask("First?");
        await new Promise<void>((resolve) => (next = resolve));
        await task.next({ wait: false });
        await task.ask("Second?");
      }),
    });
    const first = await harness.send("go");
    expect(first.status.message?.parts[0]?.text).toBe("First?");
    // This message answers "First?", which is open; the run asks nothing else before it continues.
    const ticket = await harness.start({ taskId: first.id, parts: [{ text: "an answer" }] });
    let isSettled = false;
    const settled = harness.settled(ticket).then(() => (isSettled = true));
    await turns(20);
    expect(isSettled).toBe(false);
    next?.();
    await settled;
    expect((await harness.get(first.id)).status.message?.parts[0]?.text).toBe("Second?");
  });

  test("after inputTimeout the task fails with the timeout in its error, or continues without an answer", async () => {
    await using failing = await openHarness({
      agents: scripted(async (task) => void (await task.ask("Well?")), { inputTimeout: 90_000 }),
      parkAfter: 1e9,
    });
    const { id } = await failing.send("go");
    await failing.advance(89_000);
    expect((await failing.get(id)).status.state).toBe("input-required");
    await failing.advance(2000);
    const { status } = await failing.get(id);
    expect(status.state).toBe("failed");
    expect(status.message?.parts).toEqual([{ text: "Input timeout" }, { data: { taskId: id, timeoutSeconds: 90 } }]);

    await using going = await openHarness({
      agents: scripted(
        async (task) => `got ${String(await task.ask("Well?", { timeout: 1000, onTimeout: "continue" }))}`,
      ),
    });
    const asked = await going.send("go");
    await going.advance(1500);
    await going.untilState(asked.id, "completed");
    expect(await going.story(asked.id)).toEqual([
      "working",
      "input-required:Well?",
      "working",
      "result=got undefined!",
      "completed",
    ]);
  });

  test("an input timeout is also reached while the run is parked", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => void (await task.ask("Well?")), { inputTimeout: 60_000 }),
      parkAfter: 5000,
    });
    const { id } = await harness.send("go");
    await harness.advance(10_000);
    expect(harness.engine.counts().live).toBe(0);
    await harness.advance(55_000);
    expect((await harness.get(id)).status.message?.parts[0]).toEqual({ text: "Input timeout" });
  });
});

describe("a sensitive question", () => {
  test("the run receives its answer, which is in no history, event, log or store", async () => {
    const got: unknown[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        got.push(await task.ask("Password?", { sensitive: true }));
        got.push(await task.ask("PIN?", { sensitive: true, schema: z.string().regex(/^\d{10}$/) }));
        got.push(...task.history.map(({ parts }) => parts[0]?.text));
      }),
    });
    const { id } = await harness.send("go");
    expect((await harness.get(id)).status.message?.metadata).toMatchObject({
      sensitive: true,
      inputRequest: { sensitive: true },
    });
    await harness.send({ taskId: id, parts: [{ text: "hunter2" }], metadata: { note: "hunter2 again" } });
    const wrong = await harness.send({ taskId: id, parts: [{ text: "hunter3" }] });
    expect(wrong.status.state).toBe("input-required");
    const during = await everythingStored(harness);
    const task = await harness.send({ taskId: id, parts: [{ text: "4711471147" }] });
    expect(task.status.state).toBe("completed");
    expect(got).toEqual(["hunter2", "4711471147", "go"]);
    for (const where of [during, await everythingStored(harness), JSON.stringify(task), JSON.stringify(harness.logs)]) {
      expect(where).not.toMatch(/hunter|4711471147/);
    }
  });

  test("an answer that no call has read is deleted at the end of the task", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.ask("Password?", { sensitive: true });
        throw new Error("no good");
      }),
    });
    const { id } = await harness.send("go");
    harness.store.hold();
    const both = Promise.all([
      harness.start({ taskId: id, parts: [{ text: "hunter2" }] }),
      harness.start({ taskId: id, parts: [{ text: "hunter2 twice" }] }),
    ]);
    harness.store.release();
    await both.catch(() => {});
    await harness.until(async () => (await harness.get(id)).status.state === "failed");
    expect(JSON.stringify(await harness.get(id)) + (await everythingStored(harness))).not.toContain("hunter2");
  });
});

describe("a question that asks to use a tool", () => {
  const user = agent({
    name: "User",
    description: "Has its caller look something up.",
    version: "1",
    async run(task) {
      const found = await task.ask("Look it up, please.", {
        tool: { name: "search", input: { query: task.text } },
        schema: z.object({ hits: z.number() }),
      });
      return `${found.hits} hits`;
    },
  });

  test("names the tool and the question, and is answered by the tool's result", async () => {
    await using harness = await openHarness({ agents: user });
    const asked = await harness.send("whales");
    const requestId = asked.status.message?.metadata?.["inputRequest"];
    expect(requestId).toMatchObject({ kind: "input-request", prompt: "Look it up, please." });
    const use = asked.status.message?.parts[1];
    expect(use).toMatchObject({
      data: { name: "search", input: { query: "whales" }, toolUseId: expect.any(String) },
      metadata: { kind: "tool-use" },
    });
    const { toolUseId } = (use?.data ?? {}) as { toolUseId: string };
    expect(requestId).toMatchObject({ requestId: toolUseId });
    const done = await harness.send({
      taskId: asked.id,
      parts: [{ text: "Here it is:" }, toolResultPart({ toolUseId, result: { hits: 3 } })],
    });
    expect(done.artifacts).toMatchObject([{ parts: [{ text: "3 hits" }] }]);
  });
});

describe("next", () => {
  test("stops waiting when its signal is aborted, and leaves later messages in the inbox", async () => {
    const read: (string | undefined)[] = [];
    let waiting = false;
    const enough = new AbortController();
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const next = task.next({ signal: enough.signal });
        waiting = true;
        read.push((await next)?.parts[0]?.text);
        read.push(await task.ask("Well?"));
        read.push((await task.next({ signal: enough.signal }))?.parts[0]?.text);
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.until(() => waiting);
    enough.abort();
    await harness.untilState(taskId, "input-required");
    await harness.send({ taskId, parts: [{ text: "fine" }] });
    expect(read).toEqual([undefined, "fine", undefined]);
  });

  test("returns after a crash the message that the call with the same name read before", async () => {
    const read: (readonly (string | undefined)[])[] = [];
    const first = await openHarness({
      agents: scripted(async (task) => {
        // Only the first attempt gets here.
        const early = task.attempt === 1 ? (await task.next({ name: "early" })).parts[0]?.text : undefined;
        const late = (await task.next({ name: "late" })).parts[0]?.text;
        read.push([early, late]);
        if (task.attempt === 1) await new Promise<never>(() => {});
      }),
    });
    const { taskId } = await first.start("go");
    for (const text of ["one", "two"]) await first.start({ taskId, parts: [{ text }] });
    await first.until(() => read.length === 1);
    await using harness = await first.crash();
    await harness.untilState(taskId, "completed");
    expect(read).toEqual([
      ["one", "two"],
      [undefined, "two"],
    ]);
  });
});
