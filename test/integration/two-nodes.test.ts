import { afterEach, describe, expect, test } from "vitest";
import { StoreError } from "../../src/store/contract.ts";
import { type EngineHarness, endings, openHarness, scripted, turns } from "../../src/testing/engine-harness.ts";
import { deadEnd, textOf } from "./dead-end.ts";

const SECOND = 1000;
const HOUR = 60 * 60 * SECOND;

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

describe("two nodes with one store", () => {
  test("never run the same task twice; the node without the run can subscribe, send messages and cancel", async () => {
    const messages: string[] = [];
    let starts = 0;
    harness = await openHarness({
      agents: scripted(async (task) => {
        starts += 1;
        for (;;) {
          const text = (await task.next()).parts[0]?.text ?? "";
          messages.push(text);
          await task.artifact("a").write(text);
        }
      }),
    });
    const other = await harness.join();
    const { taskId } = await harness.start("go");
    const following = other.collect(taskId);
    await other.until(async () => (await other.get(taskId)).status.state === "working");
    await other.start({ taskId, parts: [{ text: "by way of the other" }] });
    await harness.until(() => messages.length === 1);
    await harness.start({ taskId, parts: [{ text: "directly" }] });
    await harness.until(() => messages.length === 2);
    await harness.advance(3 * SECOND);
    expect(await other.engine.cancel(other.scope(), taskId)).toBe("canceled");
    expect(starts).toBe(1);
    const events = await following;
    expect(events).toEqual(await harness.log(taskId));
    expect(endings(events)).toBe(1);
    expect(await other.get(taskId)).toEqual(await harness.get(taskId));
  });

  test("deliver each other's events within a second without a bus notification", async () => {
    let go: () => void = () => {};
    const opened = new Promise<void>((resolve) => {
      go = resolve;
    });
    harness = await openHarness({
      agents: scripted(async (task) => {
        await task.artifact("a").write("1");
        await opened;
      }),
    });
    const deaf = await harness.join();
    const { taskId } = await harness.start("go");
    await harness.until(async () => (await harness.story(taskId)).length === 2);
    const following = deaf.collect(taskId);
    await turns(10);
    await harness.bus.close();
    go();
    await harness.untilState(taskId, "completed");
    await harness.advance(1100);
    expect((await following).at(-1)?.event).toMatchObject({ status: { state: "completed" } });
  });

  test("deliver a message to the other node's run within a second if the bus notification is lost", async () => {
    harness = await openHarness({ agents: scripted(async (task) => (await task.next()).parts[0]?.text ?? "") });
    const other = await harness.join();
    const { taskId } = await harness.start("go");
    await turns(10);
    await harness.bus.close();
    await other.start({ taskId, parts: [{ text: "psst" }] });
    await harness.advance(2 * SECOND);
    await harness.untilState(taskId, "completed");
    expect(textOf(await harness.get(taskId))).toBe("psst");
  });

  test("seal a sensitive answer on the node that has not yet read the question", async () => {
    let go: () => void = () => {};
    const opened = new Promise<void>((resolve) => {
      go = resolve;
    });
    harness = await openHarness({
      agents: scripted(async (task) => {
        await opened;
        return (await task.ask("Password?", { sensitive: true })) === "sesame" ? "open" : "shut";
      }),
    });
    const deaf = await harness.join();
    const { taskId } = await harness.start("go");
    const reader = await deaf.subscribe(taskId);
    await harness.bus.close();
    go();
    await harness.untilState(taskId, "input-required");
    await deaf.start({ taskId, parts: [{ text: "sesame" }] });
    expect(deaf.store.commits.flat().filter(({ kind }) => kind === "post")).toMatchObject([
      { entry: { sealed: true } },
    ]);
    reader.close();
    await harness.advance(2 * SECOND);
    await harness.untilState(taskId, "completed");
    expect(textOf(await harness.get(taskId))).toBe("open");
    expect(JSON.stringify(await harness.get(taskId))).not.toContain("sesame");
  });

  test("deliver a message once if the inbox is polled while the message is being consumed", async () => {
    const messages: string[] = [];
    harness = await openHarness({
      agents: scripted(async (task) => {
        for (;;) messages.push((await task.next()).parts[0]?.text ?? "");
      }),
    });
    const other = await harness.join();
    const { taskId } = await harness.start("go");
    await turns(10);
    harness.store.hold();
    await other.start({ taskId, parts: [{ text: "once" }] });
    await harness.until(() => harness.store.held > 0);
    harness.bus.publish([{ kind: "inbox", task: taskId, node: harness.node }]);
    await turns(10);
    harness.store.release();
    await other.start({ taskId, parts: [{ text: "last" }] });
    await harness.until(() => messages.includes("last"));
    expect(messages).toEqual(["once", "last"]);
  });

  test("claim the tasks of a dead node when its lease has expired, not before", async () => {
    const end = deadEnd();
    const first = await openHarness({
      agents: scripted(async (task) => (task.attempt === 1 ? end.enter(task) : "done")),
      leaseMs: 30 * SECOND,
    });
    harness = await first.join();
    const { taskId } = await first.start("go");
    await harness.until(() => end.reached === 1);
    const following = harness.collect(taskId);
    first.store.cut();
    await harness.advance(20 * SECOND);
    expect((await harness.get(taskId)).status.state).toBe("working");
    await harness.advance(12 * SECOND);
    await harness.untilState(taskId, "completed");
    expect((await following).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await first.kill();
  });

  test("detect a lease that expired during a suspension, even if the run writes nothing", async () => {
    const silent = await openHarness({
      agents: scripted(async (task) => (task.attempt === 1 ? (await task.next()).messageId : "done")),
      leaseMs: 30 * SECOND,
      parkAfter: HOUR,
    });
    harness = await silent.join();
    const { taskId } = await silent.start("go");
    const heartbeat = silent.store.heartbeat.bind(silent.store);
    silent.store.heartbeat = () => Promise.reject(new StoreError("busy", "not now"));
    await harness.advance(40 * SECOND);
    await harness.untilState(taskId, "completed");
    silent.store.heartbeat = heartbeat;
    await harness.advance(10 * SECOND);
    expect(silent.engine.counts().live).toBe(0);
    expect(await silent.get(taskId)).toEqual(await harness.get(taskId));
  });

  test("do not claim a task back after a missed heartbeat when the other node has claimed it", async () => {
    const end = deadEnd();
    const late: unknown[] = [];
    let go: () => void = () => {};
    const opened = new Promise<void>((resolve) => {
      go = resolve;
    });
    const silent = await openHarness({
      agents: scripted(async (task) => {
        if (task.attempt === 1) {
          await opened;
          // The run ignores its abort signal and keeps writing.
          for (const text of ["late", "later"])
            await task
              .artifact("a")
              .write(text)
              .then(() => task.flush())
              .catch((error: unknown) => late.push(error));
          return;
        }
        await task.artifact("a").write("in time");
        if (end.reached === 0) await end.enter(task);
      }),
      leaseMs: 30 * SECOND,
    });
    harness = await silent.join();
    const { taskId } = await silent.start("go");
    const heartbeat = silent.store.heartbeat.bind(silent.store);
    silent.store.heartbeat = () => Promise.reject(new StoreError("busy", "not now"));
    await harness.advance(40 * SECOND);
    await harness.until(() => end.reached === 1);
    silent.store.heartbeat = heartbeat;
    go();
    await harness.until(() => late.length === 2);
    await harness.advance(20 * SECOND);
    expect(late).toMatchObject([{ reason: "lease-lost" }, { reason: "lease-lost" }]);
    expect(await harness.story(taskId)).toEqual(["working", "a=in time"]);
    expect((await harness.shared.get(taskId, { artifacts: false }))?.epoch).toBe(2);
    expect((await harness.shared.get(taskId, { artifacts: false }))?.node).toBe(harness.node);
  });
});
