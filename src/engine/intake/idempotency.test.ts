import { describe, expect, test } from "vitest";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { isTerminal } from "../../protocol/state.ts";
import { type MessageInput, openHarness, type SendOptions, scripted, turns } from "../../testing/engine-harness.ts";
import { everythingStored } from "../../testing/everything-stored.ts";
import type { Agent } from "../agent/agent.ts";

const IDEMPOTENT: SendOptions = { idempotencyWindow: 60_000 };
const CONFLICT = { code: "conflict", violations: [{ field: "message.messageId" }] };

/** The same message each time, except for the given members. */
function textMessage(text: string, rest: Partial<Message> = {}): MessageInput {
  // Safe cast: the sender creates message ids, here the test.
  return { messageId: "m-1" as MessageId, parts: [{ text }], ...rest };
}

function counting(started: string[], rest: Parameters<typeof scripted>[1] = {}): Agent {
  return scripted(async (task) => {
    started.push(task.text);
    return `${task.text} done`;
  }, rest);
}

/** Asks two questions and returns the answers. */
function remembering(asked: string[]): Agent {
  return scripted(async (task) => {
    const answers: string[] = [];
    for (const question of ["One?", "Two?"]) {
      asked.push(question);
      answers.push(await task.ask(question));
    }
    return answers.join("+");
  });
}

describe("an idempotent message", () => {
  test("that is repeated gets the task of the earlier message, and the agent runs once", async () => {
    const started: string[] = [];
    await using harness = await openHarness({ agents: counting(started) });
    const first = await harness.send(textMessage("go"), IDEMPOTENT);
    const again = await harness.send(textMessage("go"), IDEMPOTENT);
    expect(again).toEqual(first);
    expect(started).toEqual(["go"]);
    const streamed = await harness.begin(textMessage("go"), { ...IDEMPOTENT, streaming: true });
    const subscription = await streamed.subscribe({});
    expect(subscription.opening).toMatchObject({ id: first.id, seq: 0, state: "submitted" });
    const { entries } = (await subscription.next()) ?? { entries: [] };
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    subscription.close();
  });

  test("is recognised with its members in another order and with other references, output modes and extensions", async () => {
    const started: string[] = [];
    await using harness = await openHarness({ agents: counting(started) });
    const one = textMessage("go", { metadata: { a: 1, b: { c: [1], d: 2 } } });
    const referenceTaskIds = ["t" as TaskId];
    const other = textMessage("go", { metadata: { b: { d: 2, c: [1] }, a: 1 }, referenceTaskIds });
    const first = await harness.send(one, IDEMPOTENT);
    const again = await harness.send(other, { ...IDEMPOTENT, outputModes: ["text/plain"], extensions: ["x:y"] });
    expect(again.id).toBe(first.id);
    expect(started).toHaveLength(1);
  });

  test.each<[string, MessageInput, SendOptions]>([
    ["parts", textMessage("stop"), {}],
    ["metadata", textMessage("go", { metadata: { skillId: "other" } }), {}],
    ["context", textMessage("go", { contextId: "c" as ContextId }), {}],
    ["request's metadata", textMessage("go"), { metadata: { skillId: "other" } }],
  ])("that is repeated with other %s is refused as a conflict", async (_, message, options) => {
    const started: string[] = [];
    await using harness = await openHarness({ agents: counting(started) });
    await harness.send(textMessage("go"), IDEMPOTENT);
    await expect(harness.submit(message, { ...IDEMPOTENT, ...options })).rejects.toMatchObject(CONFLICT);
    expect(started).toEqual(["go"]);
  });

  test("creates another task for another owner, tenant or agent, and after the idempotency window", async () => {
    const started: string[] = [];
    await using harness = await openHarness({ agents: [counting(started), counting(started, { id: "other" })] });
    const first = await harness.send(textMessage("go"), IDEMPOTENT);
    const others: SendOptions[] = [{ owner: "eve" }, { tenant: "t" }, { agent: "other" }];
    for (const who of others)
      expect((await harness.send(textMessage("go"), { ...IDEMPOTENT, ...who })).id).not.toBe(first.id);
    await harness.advance(59_000, 5000);
    expect((await harness.send(textMessage("go"), IDEMPOTENT)).id).toBe(first.id);
    await harness.advance(2000);
    expect((await harness.send(textMessage("changed"), IDEMPOTENT)).id).not.toBe(first.id);
    expect(started).toEqual(["go", "go", "go", "go", "changed"]);
  });

  test("sent twice at the same time creates one task; different content is refused before either is stored", async () => {
    const started: string[] = [];
    await using harness = await openHarness({ agents: counting(started) });
    harness.store.hold();
    const both = [harness.begin(textMessage("go"), IDEMPOTENT), harness.begin(textMessage("go"), IDEMPOTENT)] as const;
    await turns(3);
    await expect(harness.submit(textMessage("stop"), IDEMPOTENT)).rejects.toMatchObject(CONFLICT);
    await harness.until(() => harness.store.held === 1);
    // The run starts only after the store confirmed that no other node created the task.
    expect(started).toEqual([]);
    harness.store.release();
    const [one, other] = await Promise.all(both);
    expect(one).toEqual(other);
    await harness.settled(one);
    expect(started).toEqual(["go"]);
  });

  test("sent to two nodes at the same time creates one task with one run", async () => {
    const started: string[] = [];
    await using harness = await openHarness({ agents: counting(started) });
    const beside = await harness.join();
    for (const node of [harness, beside]) node.store.hold();
    const both = [harness.begin(textMessage("go"), IDEMPOTENT), beside.begin(textMessage("go"), IDEMPOTENT)] as const;
    const third = beside.begin(textMessage("stop", { messageId: "m-2" as MessageId }), IDEMPOTENT);
    const fourth = harness.begin(textMessage("halt", { messageId: "m-2" as MessageId }), IDEMPOTENT);
    await harness.until(() => harness.store.held === 1 && beside.store.held === 1);
    beside.store.release();
    await harness.until(() => started.length === 2);
    harness.store.release();
    const [one, other] = await Promise.all(both);
    expect(one.taskId).toBe(other.taskId);
    await expect(fourth).rejects.toMatchObject(CONFLICT);
    await Promise.all([harness.settled(one), beside.settled(other), beside.settled(await third)]);
    expect((await harness.get(one.taskId)).status.state).toBe("completed");
    expect(started).toEqual(["go", "stop"]);
    expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0, queued: 0 });
    expect(harness.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("is recognised after a crash, whether its run had ended or not", async () => {
    const started: string[] = [];
    await using first = await openHarness({
      agents: scripted(async (task) => {
        started.push(task.text);
        if (started.length === 1) await new Promise(() => {});
        return "done";
      }),
    });
    const { taskId } = await first.start(textMessage("go"), IDEMPOTENT);
    await first.until(() => started.length === 1);
    const second = await first.crash();
    const task = await second.send(textMessage("go"), IDEMPOTENT);
    expect(task).toMatchObject({ id: taskId, status: { state: "completed" } });
    const third = await second.crash();
    expect(await third.send(textMessage("go"), IDEMPOTENT)).toEqual(task);
    await expect(third.submit(textMessage("stop"), IDEMPOTENT)).rejects.toMatchObject(CONFLICT);
    expect(started).toEqual(["go", "go"]);
  });

  test("creates the task if the earlier send, which it waited for, failed", async () => {
    const started: string[] = [];
    let calls = 0;
    await using harness = await openHarness({
      agents: counting(started, {
        async reply() {
          calls += 1;
          await turns(3);
          if (calls === 1) throw new Error("not now");
          return undefined;
        },
      }),
    });
    const first = harness.send(textMessage("go"), IDEMPOTENT);
    const second = harness.send(textMessage("go"), IDEMPOTENT);
    await expect(first).rejects.toMatchObject({ code: "internal" });
    expect((await second).status.state).toBe("completed");
    expect(started).toEqual(["go"]);
  });

  test("gets the earlier task even if the agent is at capacity", async () => {
    let go: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(() => new Promise<void>((resolve) => (go = resolve)), { concurrency: 1, queue: 1 }),
    });
    const { taskId } = await harness.start(textMessage("go"), IDEMPOTENT);
    await harness.start("another");
    await expect(harness.submit("a third")).rejects.toMatchObject({ code: "resource-exhausted" });
    expect((await harness.start(textMessage("go"), IDEMPOTENT)).taskId).toBe(taskId);
    go?.();
  });

  test("counts against the capacity while it is being stored", async () => {
    const go: (() => void)[] = [];
    await using harness = await openHarness({
      agents: scripted(() => new Promise<void>((resolve) => go.push(resolve)), { concurrency: 2, queue: 1 }),
    });
    const all = [1, 2, 3, 4, 5].map((n) =>
      harness.start(textMessage("go", { messageId: `m-${n}` as MessageId }), IDEMPOTENT),
    );
    const results = await Promise.allSettled(all);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    await harness.until(() => go.length === 2);
    for (const done of go) done();
    await harness.until(() => go.length === 3);
    go[2]?.();
  });

  test("that the store refuses leaves nothing behind and can be sent again", async () => {
    await using waiting = await openHarness({
      agents: scripted(async (task) => void (await task.ask("Well?"))),
      retention: { maxTasks: 1 },
    });
    const open = await waiting.send("first");
    await expect(waiting.submit(textMessage("go"), IDEMPOTENT)).rejects.toMatchObject({ code: "resource-exhausted" });
    expect(waiting.engine.counts().live).toBe(1);
    await waiting.send({ taskId: open.id, parts: [{ text: "well" }] });
    expect((await waiting.send(textMessage("go"), IDEMPOTENT)).status.state).toBe("input-required");
  });

  test("with a task id chosen by the caller creates one task with that id", async () => {
    const started: string[] = [];
    await using harness = await openHarness({ agents: counting(started) });
    const named = textMessage("go", { taskId: "mine" as TaskId });
    const options: SendOptions = { ...IDEMPOTENT, namesTask: true };
    const first = await harness.send(named, options);
    expect(first.id).toBe("mine");
    expect(await harness.send(named, options)).toEqual(first);
    expect(started).toEqual(["go"]);
  });

  test("that reply() answers is answered again, except while the earlier send is pending", async () => {
    let calls = 0;
    await using harness = await openHarness({
      agents: scripted(async () => {}, {
        async reply() {
          calls += 1;
          await turns(2);
          return `answer ${calls}`;
        },
      }),
    });
    const both = await Promise.all([
      harness.submit(textMessage("hi"), IDEMPOTENT),
      harness.submit(textMessage("hi"), IDEMPOTENT),
    ]);
    expect(both[0]).toBe(both[1]);
    await harness.submit(textMessage("hi"), IDEMPOTENT);
    expect(calls).toBe(2);
  });
});

describe("an idempotent message to an existing task", () => {
  const asking = scripted(async (task) => {
    const answers = [await task.ask("One?"), await task.ask("Two?")];
    return answers.join("+");
  });

  test("is read once, and its repetition returns the same result", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id } = await harness.send("go");
    const answer = textMessage("a", { taskId: id });
    const first = await harness.send(answer, IDEMPOTENT);
    expect(first.status.message?.parts[0]?.text).toBe("Two?");
    expect(await harness.send(answer, IDEMPOTENT)).toEqual(first);
    await expect(harness.submit(textMessage("b", { taskId: id }), IDEMPOTENT)).rejects.toMatchObject(CONFLICT);
    const done = await harness.send(textMessage("b", { taskId: id, messageId: "m-2" as MessageId }), IDEMPOTENT);
    expect(done.artifacts?.[0]?.parts).toEqual([{ text: "a+b" }]);
    // The repetition is answered even after the task has ended.
    expect(await harness.send(answer, IDEMPOTENT)).toEqual(done);
    expect(done.history?.filter(({ role }) => role === "user")).toHaveLength(3);
  });

  test("that is repeated before the run read it returns after its question is answered", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id } = await harness.send("go");
    const answer = textMessage("a", { taskId: id });
    const beside = await harness.join();
    // The run on the first node cannot store that it consumed the answer.
    harness.store.hold();
    await beside.start(answer, IDEMPOTENT);
    let returned = false;
    const again = beside.send(answer, IDEMPOTENT).finally(() => (returned = true));
    await harness.until(() => harness.store.held === 1);
    await harness.advance(1000);
    expect(returned).toBe(false);
    harness.store.release();
    expect((await again).status.message?.parts[0]?.text).toBe("Two?");
  });

  test.each(["before", "after"])(
    "waits for the end if it is repeated, unread, %s another message has answered its question",
    async (when) => {
      let finish: (() => void) | undefined;
      const agents = scripted(async (task) => {
        const answer = await task.ask("One?");
        await new Promise<void>((resolve) => (finish = resolve));
        await task.next({ wait: false });
        return answer;
      });
      await using harness = await openHarness({ agents });
      const { id } = await harness.send("go");
      const second = textMessage("b", { taskId: id, messageId: "m-2" as MessageId });
      const beside = await harness.join();
      // The run on the first node cannot store that it consumed the first answer.
      harness.store.hold();
      await beside.start(textMessage("a", { taskId: id }), IDEMPOTENT);
      await beside.start(second, IDEMPOTENT);
      let returned = false;
      const repeat = () => beside.send(second, IDEMPOTENT).finally(() => (returned = true));
      let again = when === "before" ? repeat() : undefined;
      await harness.until(() => harness.store.held === 1);
      harness.store.release();
      await harness.until(() => finish !== undefined);
      again ??= repeat();
      await harness.advance(3000);
      expect(returned).toBe(false);
      finish?.();
      await harness.advance(3000);
      expect((await again).status.state).toBe("completed");
    },
  );

  test("is stored once if it is sent twice at the same time, to two nodes, and again after a crash", async () => {
    let go: (() => void) | undefined;
    const received: string[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await new Promise<void>((resolve) => (go = resolve));
        for (;;) {
          const message = await task.next({ wait: false });
          if (message === undefined) return;
          received.push(message.parts[0]?.text ?? "");
        }
      }),
    });
    const beside = await harness.join();
    const { taskId } = await harness.start("go");
    const message = textMessage("x", { taskId });
    const tickets = await Promise.all([
      harness.start(message, IDEMPOTENT),
      harness.start(message, IDEMPOTENT),
      beside.start(message, IDEMPOTENT),
    ]);
    expect(tickets.map(({ key }) => key)).toEqual([taskId, taskId, taskId]);
    expect(await harness.shared.inbox(taskId)).toHaveLength(1);
    await beside.kill();
    const later = await harness.crash();
    await later.start(message, IDEMPOTENT);
    expect(await harness.shared.inbox(taskId)).toHaveLength(1);
    await later.until(() => go !== undefined);
    go?.();
    await later.until(async () => {
      go?.();
      return isTerminal((await later.get(taskId)).status.state);
    });
    expect(received).toEqual(["x"]);
  });

  test.each(["continues", "is parked", "crashes"] as const)(
    "is read once if another node stores it again just after it was consumed by a run that %s",
    async (how) => {
      const received: string[] = [];
      await using harness = await openHarness({ agents: remembering(received), parkAfter: 5000 });
      const { id } = await harness.send("go");
      const beside = await harness.join();
      beside.store.hold();
      const late = beside.begin(textMessage("x", { taskId: id }), IDEMPOTENT);
      await harness.until(() => beside.store.held === 1);
      expect((await harness.send(textMessage("x", { taskId: id }), IDEMPOTENT)).status.message?.parts[0]?.text).toBe(
        "Two?",
      );
      if (how === "is parked") await harness.advance(6000);
      const living = how === "crashes" ? await harness.crash() : harness;
      beside.store.release();
      await late;
      await living.advance(3000);
      expect((await living.get(id)).status).toMatchObject({ state: "input-required" });
      const done = await living.send({ taskId: id, parts: [{ text: "y" }] });
      expect(done).toMatchObject({ status: { state: "completed" }, artifacts: [{ parts: [{ text: "x+y" }] }] });
      expect(done.history?.filter(({ role }) => role === "user")).toHaveLength(3);
      expect(new Set(received)).toEqual(new Set(["One?", "Two?"]));
    },
  );

  test("is stored once if two nodes get it with different content at the same time; one sender gets a conflict", async () => {
    await using harness = await openHarness({ agents: remembering([]) });
    const other = await harness.join();
    const { id } = await harness.send("go");
    const nodes = [harness, other];
    for (const node of nodes) node.store.hold();
    const sends = nodes.map((node, index) => {
      return node.start(textMessage(`answer ${index}`, { taskId: id }), IDEMPOTENT).catch((error: unknown) => error);
    });
    // Both nodes have looked for an earlier message and found none.
    await harness.until(() => nodes.every(({ store }) => store.held > 0));
    for (const node of nodes) node.store.release();
    const results = await harness.pumped(Promise.all(sends));
    const refused = results.filter((result) => result instanceof Error);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject(CONFLICT);
    await harness.until(async () => (await harness.get(id)).status.message?.parts[0]?.text === "Two?");
    expect((await harness.get(id)).history?.filter(({ messageId }) => messageId === "m-1")).toHaveLength(1);
    expect(await harness.shared.inbox(id)).toEqual([]);
  });

  test("gets the result from a node that posts it after the task has ended", async () => {
    await using harness = await openHarness({ agents: remembering([]) });
    const { id } = await harness.send("go");
    await harness.send({ taskId: id, parts: [{ text: "x" }] });
    const beside = await harness.join();
    beside.store.hold();
    const late = beside.begin(textMessage("y", { taskId: id }), IDEMPOTENT);
    await harness.until(() => beside.store.held === 1);
    const done = await harness.send(textMessage("y", { taskId: id }), IDEMPOTENT);
    expect(done.status.state).toBe("completed");
    beside.store.release();
    expect(await late).toMatchObject({ taskId: id });
    const other = beside.submit(textMessage("z", { taskId: id, messageId: "m-2" as MessageId }), IDEMPOTENT);
    await expect(other).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  test("is recognised if it was sealed, and its repetition is not stored unencrypted", async () => {
    const got: string[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        got.push(await task.ask("Password?", { sensitive: true }));
        got.push(await task.ask("And now?"));
      }),
    });
    const { id } = await harness.send("go");
    const answer = textMessage("hunter2", { taskId: id });
    const asked = await harness.send(answer, IDEMPOTENT);
    expect(asked.status.message?.parts[0]?.text).toBe("And now?");
    expect(await harness.send(answer, IDEMPOTENT)).toEqual(asked);
    await expect(harness.submit(textMessage("hunter3", { taskId: id }), IDEMPOTENT)).rejects.toMatchObject(CONFLICT);
    const done = await harness.send({ taskId: id, parts: [{ text: "fine" }] });
    expect(await harness.send(answer, IDEMPOTENT)).toEqual(done);
    expect(got).toEqual(["hunter2", "fine"]);
    expect((await everythingStored(harness)) + JSON.stringify(done)).not.toContain("hunter");
  });
});
