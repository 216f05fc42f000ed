import { describe, expect, it } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import { textOf } from "../../protocol/part.ts";
import { EngineHarness } from "../../testing/engine-harness.ts";
import { agent } from "../agent/agent.ts";
import { readRunner } from "../record/runner-record.ts";

const asker = agent({
  name: "Asker",
  description: "Asks once.",
  version: "1",
  async run(task) {
    const more = await task.ask("And?");
    return `${task.id}: ${task.text} ${more}`;
  },
});

const named = (taskId: string, text: string): { taskId: TaskId; parts: [{ text: string }] } => ({
  taskId: taskId as TaskId,
  parts: [{ text }],
});

describe("A task whose id the caller chooses", () => {
  it("is created and continued under that id", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const asked = await harness.send(named("task-1", "one"), { namesTask: true });
    expect(asked).toMatchObject({ id: "task-1", status: { state: "input-required", message: { taskId: "task-1" } } });
    const done = await harness.send(named("task-1", "two"), { namesTask: true });
    expect(done).toMatchObject({
      id: "task-1",
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: "task-1: one two" }] }],
    });
    expect(done.history?.map(({ taskId }) => taskId)).toEqual(["task-1", "task-1", "task-1"]);
    const page = await harness.engine.list({ scope: harness.scope(), limit: 10, artifacts: false });
    expect(page.tasks.map(({ id }) => id)).toEqual(["task-1"]);
  });

  it("is separate from a task with the same id of another caller", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const [mine, theirs] = [{ owner: "me" }, { owner: "you" }];
    await harness.send(named("t", "mine"), { ...mine, namesTask: true });
    await harness.send(named("t", "theirs"), { ...theirs, namesTask: true });
    expect((await harness.send(named("t", "!"), mine)).artifacts).toMatchObject([{ parts: [{ text: "t: mine !" }] }]);
    expect(await harness.engine.cancel(harness.scope(theirs), "t" as TaskId)).toBe("canceled");
    expect((await harness.get("t" as TaskId, mine)).status.state).toBe("completed");
    expect((await harness.get("t" as TaskId, theirs)).status.state).toBe("canceled");
    expect(await harness.find("t" as TaskId, { owner: "third" })).toBeUndefined();
  });

  it("is created once if two nodes get messages with its id at the same time: the other messages continue it", async () => {
    let runs = 0;
    const heard: string[] = [];
    const listener = agent({
      ...{ name: "Listener", description: "Waits for four messages.", version: "1" },
      async run(task) {
        runs += 1;
        heard.push(task.text);
        while (heard.length < 4) heard.push(textOf((await task.next()).parts));
      },
    });
    await using one = await EngineHarness.open({ agents: listener });
    const other = await one.join();
    await Promise.all([one, one, other, other].map((node, n) => node.start(named("t", `${n}`), { namesTask: true })));
    await one.untilState("t" as TaskId, "completed");
    expect(runs).toBe(1);
    expect(heard.toSorted()).toEqual(["0", "1", "2", "3"]);
  });

  it("is refused in dialects where the server creates task ids", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    await expect(harness.start(named("t", "x"))).rejects.toMatchObject({
      code: "task-not-found",
      metadata: { taskId: "t" },
    });
  });

  it("may have an id that looks like an id of the server", async () => {
    const name = "0197f0a1-2b3c-7d4e-8f50-0123456789ab";
    await using harness = await EngineHarness.open({ agents: asker });
    await harness.send(named(name, "a"), { namesTask: true });
    const subscription = await harness.engine.subscribe(harness.scope(), name as TaskId, {});
    expect(subscription?.opening.id).toBe(name);
    subscription?.close();
    expect((await harness.send(named(name, "b"))).status.state).toBe("completed");
  });

  it("is created once when two sends arrive at the same time", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const [one, two] = await Promise.all([
      harness.begin(named("t", "one"), { namesTask: true }),
      harness.begin(named("t", "two"), { namesTask: true }),
    ]);
    await Promise.all([one.stored(), two.stored()]);
    const page = await harness.engine.list({ scope: harness.scope(), limit: 10, artifacts: false });
    expect(page.total).toBe(1);
  });

  it("keeps its id after a crash", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    await harness.send(named("t/ü ~1", "a"), { namesTask: true });
    const next = await harness.crash();
    expect((await next.send(named("t/ü ~1", "b"))).artifacts).toMatchObject([{ parts: [{ text: "t/ü ~1: a b" }] }]);
  });
});

describe("The host's hooks", () => {
  it("receive the id that the caller chose", async () => {
    const seen = new Set<string>();
    const hooks = {
      on: { event: (_event: unknown, { id }: { id: string }) => void seen.add(`event ${id}`) },
      transform: <Event>(event: Event, { id }: { id: string }): Event => {
        seen.add(`transform ${id}`);
        return event;
      },
    };
    await using harness = await EngineHarness.open({ agents: asker, hooks });
    await harness.send(named("task-1", "one"), { namesTask: true });
    expect([...seen].toSorted()).toEqual(["event task-1", "transform task-1"]);
  });
});

describe("A caller whose dialect has no bare messages", () => {
  it("gets the agent's reply as a completed task, which is stored", async () => {
    const replier = agent({ name: "R", description: "Replies.", version: "1", reply: () => "at once" });
    await using harness = await EngineHarness.open({ agents: replier });
    const task = await harness.send(named("t", "hello"), { namesTask: true, tasksOnly: true });
    expect(task).toMatchObject({
      id: "t",
      status: { state: "completed", message: { role: "agent", parts: [{ text: "at once" }] } },
    });
    expect(await harness.get("t" as TaskId)).toEqual(task);
  });
});

describe("A request with a timeout", () => {
  it("fails the task at the timeout, even if the agent's timeout is longer", async () => {
    const sleeper = agent({
      name: "S",
      description: "Never ends.",
      version: "1",
      run: (task) =>
        new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(new Error("stop")))),
    });
    await using harness = await EngineHarness.open({ agents: sleeper });
    const ticket = await harness.start("x", { timeoutMs: 5000 });
    await harness.advance(5001);
    await harness.settled(ticket);
    expect((await harness.get(ticket.taskId)).status).toMatchObject({
      state: "failed",
      message: { parts: [{ text: "Task timed out" }] },
    });
  });
});

describe("A call with a trace context", () => {
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const echo = agent({ name: "E", description: "Echoes.", version: "1", run: async (task) => task.text });

  it("adds the trace id to the metadata of every event", async () => {
    await using harness = await EngineHarness.open({ agents: echo });
    const ticket = await harness.start("x", { trace: { traceId: trace, spanId: "00f067aa0ba902b7", flags: 1 } });
    await harness.settled(ticket);
    const events = await harness.log(ticket.taskId);
    const spans = new Set(events.map(({ event }) => event.metadata?.["spanId"]));
    expect(events.map(({ event }) => event.metadata?.["traceId"])).toEqual(events.map(() => trace));
    expect([...spans]).toEqual([expect.stringMatching(/^(?!0{16})[0-9a-f]{16}$/)]);
  });

  it("adds no trace id if the call has no trace", async () => {
    await using harness = await EngineHarness.open({ agents: echo });
    const ticket = await harness.start("x");
    await harness.settled(ticket);
    for (const { event } of await harness.log(ticket.taskId)) expect(event.metadata).toBeUndefined();
  });

  it("stores the whole context with the task, also after its end", async () => {
    await using harness = await EngineHarness.open({ agents: echo });
    const context = { traceId: trace, spanId: "00f067aa0ba902b7", flags: 1, state: "vendor=1" };
    const ticket = await harness.start("x", { trace: context });
    await harness.settled(ticket);
    const record = await harness.shared.get(ticket.key, { artifacts: false });
    expect(readRunner(record?.head.runner ?? "{}").trace).toEqual(context);
  });
});
