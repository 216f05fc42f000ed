import { describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import { StoreError } from "../../store/contract.ts";
import { openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { TaskContext } from "../agent/agent.ts";

const done = scripted(async (task) => `did ${task.text}`);

describe("group commit", () => {
  test("a task that ends at once is created, run and ended by one commit", async () => {
    await using harness = await openHarness({ agents: done });
    await harness.send("go");
    expect(harness.store.commits).toHaveLength(1);
    expect(harness.store.commits[0]).toHaveLength(1);
    expect(harness.store.commits[0]?.[0]).toMatchObject({ kind: "write", create: {}, end: {} });
  });

  test("tasks that are created in one turn of the event loop share one commit", async () => {
    await using harness = await openHarness({ agents: done });
    const tasks = await Promise.all(Array.from({ length: 50 }, (_, n) => harness.send(`${n}`)));
    expect(tasks.every((task) => task.status.state === "completed")).toBe(true);
    expect(harness.store.commits.map((operations) => operations.length)).toEqual([50]);
  });

  test("everything written while a commit runs goes into the next commit together", async () => {
    await using harness = await openHarness({ agents: done });
    harness.store.hold();
    const first = harness.send("first");
    await harness.until(() => harness.store.held === 1);
    const few = Array.from({ length: 5 }, (_, n) => harness.send(`${n}`));
    await turns(5);
    expect(harness.store.held).toBe(1);
    harness.store.release();
    await Promise.all([first, ...few]);
    expect(harness.store.commits.map((operations) => operations.length)).toEqual([1, 5]);
  });

  test("a second commit starts beside the first if enough tasks wait; a third one does not", async () => {
    await using harness = await openHarness({ agents: done });
    harness.store.hold();
    const sends = [harness.send("first")];
    await harness.until(() => harness.store.held === 1);
    for (let n = 0; n < 20; n++) sends.push(harness.send(`second ${n}`));
    await harness.until(() => harness.store.held === 2);
    for (let n = 0; n < 30; n++) sends.push(harness.send(`third ${n}`));
    await turns(5);
    expect(harness.store.held).toBe(2);
    harness.store.release();
    await Promise.all(sends);
    expect(harness.store.commits.map((operations) => operations.length)).toEqual([1, 20, 30]);
  });

  test("a task is never in two commits at once, and its events stay in order", async () => {
    await using harness = await openHarness({
      agents: scripted(async function* () {
        for (let n = 0; n < 40; n++) {
          yield `${n} `;
          await turns(1);
        }
      }),
    });
    harness.store.hold();
    const sends = Array.from({ length: 12 }, (_, n) => harness.send(`${n}`));
    await harness.until(() => harness.store.held === 1);
    await turns(20);
    expect(harness.store.held).toBe(1);
    harness.store.release();
    for (const task of await Promise.all(sends)) {
      const text = Array.from({ length: 40 }, (_, n) => `${n} `).join("");
      expect(task.artifacts?.[0]?.parts).toEqual([{ text }]);
    }
  });

  test("a step, a question and a sleep begin only after the task is stored", async () => {
    for (const call of ["step", "ask", "sleep"] as const) {
      const begun: string[] = [];
      await using harness = await openHarness({
        agents: scripted(async (task) => {
          begun.push("run");
          if (call === "step") await task.step("s", () => void begun.push("step"));
          if (call === "ask") await task.ask("Well?").then(() => begun.push("answered"));
          if (call === "sleep") await task.sleep(5).then(() => begun.push("slept"));
        }),
      });
      harness.store.hold();
      const ticket = await harness.begin("go");
      await harness.until(() => harness.store.held === 1);
      await harness.advance(100);
      expect(begun).toEqual(["run"]);
      harness.store.release();
      await ticket.stored();
      if (call === "ask") await harness.untilState(ticket.taskId, "input-required");
      else {
        await harness.advance(100);
        expect(begun).toHaveLength(2);
      }
    }
  });
});

describe("the outcomes of a commit", () => {
  test("a writer with an old epoch is refused and loses its task; the other writes of the commit succeed", async () => {
    const contexts: TaskContext[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        contexts.push(task);
        await new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));
      }),
    });
    const lost = await harness.start("lost");
    const kept = await harness.start("kept");
    const other = "another-node";
    await harness.shared.heartbeat(other, 60_000);
    await harness.shared.commit([{ kind: "claim", task: lost.taskId, node: other, force: true }]);
    harness.store.commits.length = 0;
    const written = Promise.all(
      contexts.map((task) =>
        task
          .artifact("a")
          .write(task.text)
          .then(() => task.flush())
          .catch((error: unknown) => error),
      ),
    );
    const [ofLost, ofKept] = await written;
    expect(harness.store.commits).toHaveLength(1);
    expect(harness.store.commits[0]).toHaveLength(2);
    expect(ofLost).toMatchObject({ name: "TaskAborted", reason: "lease-lost" });
    expect(ofKept).toBeUndefined();
    expect(contexts[0]?.signal.reason).toMatchObject({ reason: "lease-lost" });
    expect(contexts[1]?.signal.aborted).toBe(false);
    expect(await harness.story(lost.taskId)).toEqual(["working"]);
    expect(await harness.story(kept.taskId)).toEqual(["working", "a=kept"]);
  });
});

describe("a failing store", () => {
  const busy = new StoreError("busy", "database is locked");
  const full = new StoreError("full", "disk is full");

  test("a commit is retried while the store is busy or full, and no caller notices", async () => {
    await using harness = await openHarness({ agents: done });
    harness.store.failNext(busy, full, busy);
    const sent = harness.send("go");
    await harness.advance(1000, 10);
    expect((await sent).status.state).toBe("completed");
    expect(harness.store.commits).toHaveLength(4);
    expect(harness.fatal).toEqual([]);
  });

  test("after the retries a new task is rejected as unavailable, and the process continues", async () => {
    await using harness = await openHarness({ agents: done, storeRetry: 1000 });
    harness.store.failAlways(full);
    const refused = expect(harness.send("go")).rejects.toMatchObject({ code: "unavailable", retryAfter: 5 });
    await harness.advance(3000, 50);
    await refused;
    harness.store.failAlways(undefined);
    expect((await harness.send("go")).status.state).toBe("completed");
    expect(harness.fatal).toEqual([]);
    expect(harness.engine.counts()).toMatchObject({ live: 0, running: 0, orphans: 0 });
  });

  test("after the retries runs abort with store-unavailable, and run again once the store is available", async () => {
    const reasons: unknown[] = [];
    const attempts: number[] = [];
    let write: (() => void) | undefined;
    await using harness = await openHarness({
      storeRetry: 1000,
      agents: scripted(async (task) => {
        attempts.push(task.attempt);
        await task.artifact("a").write("one");
        await task.flush();
        if (task.attempt === 1) {
          await new Promise<void>((resolve) => {
            write = resolve;
          });
          await task.artifact("a").write("two");
          await task.flush().catch((error: unknown) => {
            reasons.push(error, task.signal.reason);
            throw error;
          });
        }
        await task.artifact("a").write("two");
        await task.artifact("a").end("three");
      }),
    });
    const ticket = await harness.start("go");
    await harness.until(() => write !== undefined);
    await harness.until(async () => (await harness.story(ticket.taskId)).length === 2);
    harness.store.failAlways(full);
    write?.();
    await harness.advance(3000, 50);
    expect(reasons).toMatchObject([{ reason: "store-unavailable" }, { reason: "store-unavailable" }]);
    expect((await harness.get(ticket.taskId)).status.state).toBe("working");
    harness.store.failAlways(undefined);
    const settled = harness.settled(ticket);
    await harness.advance(5000, 50);
    await settled;
    expect(attempts).toEqual([1, 2]);
    expect(await harness.story(ticket.taskId)).toEqual(["working", "a=one", "a+=two", "a+=three!", "completed"]);
    expect(harness.fatal).toEqual([]);
  });

  test("a message or a cancel that cannot be stored is rejected as unavailable", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => void (await task.ask("Well?"))),
      storeRetry: 100,
    });
    const { id } = await harness.send("go");
    harness.store.failAlways(busy);
    const refused = [
      expect(harness.start({ taskId: id, parts: [{ text: "x" }] })).rejects.toMatchObject({ code: "unavailable" }),
      expect(harness.engine.cancel(harness.scope(), id)).rejects.toMatchObject({ code: "unavailable" }),
    ];
    await harness.advance(500, 10);
    await Promise.all(refused);
    harness.store.failAlways(undefined);
    expect((await harness.get(id)).status.state).toBe("input-required");
  });

  test("after a commit of unknown outcome no request is answered and the engine is not ready", async () => {
    await using harness = await openHarness({ agents: done });
    harness.store.failNext(new StoreError("unknown", "I/O error in COMMIT"));
    const answers: unknown[] = [];
    const ticket = await harness.begin("go");
    const note = (answer: unknown): void => void answers.push(answer);
    ticket.stored().then(note, note);
    harness.settled(ticket).then(note, note);
    await harness.until(() => harness.fatal.length > 0);
    const later = await harness.begin("later");
    later.stored().then(note, note);
    harness.settled(later).then(note, note);
    await harness.advance(20_000);
    expect(answers).toEqual([]);
    expect(harness.fatal).toHaveLength(1);
    expect(harness.store.commits).toHaveLength(1);
    await expect(harness.engine.ready()).rejects.toMatchObject({ code: "unavailable" });
    await harness.engine.drain(0);
  });

  test("an unexpected error of the store is treated like a commit of unknown outcome", async () => {
    await using harness = await openHarness({ agents: done });
    harness.store.failNext(new TypeError("cannot read properties of undefined"));
    await harness.begin("go");
    await harness.until(() => harness.fatal.length > 0);
    await expect(harness.engine.ready()).rejects.toMatchObject({ code: "unavailable" });
  });

  test("a store at its limit of tasks rejects new ones with a named error", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => void (await task.ask("Well?"))),
      retention: { maxTasks: 2, pruneCount: 1 },
    });
    await harness.send("1");
    await harness.send("2");
    const refused = await harness.begin("3");
    await expect(refused.stored()).rejects.toMatchObject({ code: "resource-exhausted" });
    await expect(harness.send("4")).rejects.toMatchObject({ code: "resource-exhausted" });
    expect(await harness.find(refused.taskId)).toBeUndefined();
    const page = await harness.engine.list({ scope: harness.scope(), limit: 10, artifacts: false });
    expect(page.total).toBe(2);
  });
});

describe("events are visible only after their commit", () => {
  test("no reader sees anything before its commit succeeded", async () => {
    for (const applied of [false, true]) {
      const seen: string[] = [];
      await using harness = await openHarness({
        agents: done,
        hooks: { on: { event: ({ seq }) => void seen.push(`hook ${seq}`) } },
      });
      harness.store.hold({ applied });
      const ticket = await harness.begin("go");
      const settled = harness.settled(ticket).then(() => seen.push("settled"));
      const accepted = ticket.stored().then(() => seen.push("accepted"));
      await harness.until(() => harness.store.held === 1);
      await turns(20);
      expect(seen).toEqual([]);
      if (!applied) {
        expect(await harness.find(ticket.taskId)).toBeUndefined();
        expect((await harness.engine.list({ scope: harness.scope(), limit: 10, artifacts: false })).total).toBe(0);
      }
      harness.store.release();
      await Promise.all([settled, accepted]);
      expect(seen.toSorted()).toEqual(["accepted", "hook 1", "hook 2", "hook 3", "settled"]);
    }
  });

  test("a reader of a running task sees an event only after its commit succeeded", async () => {
    let context: TaskContext | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        context = task;
        await new Promise<void>((resolve) => task.signal.addEventListener("abort", () => resolve()));
      }),
    });
    const ticket = await harness.start("go");
    const subscription = await harness.subscribe(ticket.taskId);
    harness.store.hold({ applied: true });
    const seen: number[] = [];
    const reading = subscription.next().then((batch) => seen.push(...(batch?.entries.map(({ seq }) => seq) ?? [])));
    void context?.artifact("a").write("secret so far");
    await harness.until(() => harness.store.held === 1);
    await turns(10);
    expect(seen).toEqual([]);
    const seqOf = async (id: TaskId): Promise<number | undefined> =>
      (await harness.engine.snapshot(harness.scope(), id, { artifacts: true }))?.seq;
    expect(await seqOf(ticket.taskId)).toBe(1);
    expect((await harness.get(ticket.taskId)).artifacts).toEqual([]);
    harness.store.release();
    await reading;
    expect(seen).toEqual([2]);
    expect(await seqOf(ticket.taskId)).toBe(2);
    subscription.close();
  });
});
