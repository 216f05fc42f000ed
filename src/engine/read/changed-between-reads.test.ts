import { describe, expect, test } from "vitest";
import { createDeferred } from "../../internal/deferred.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Store } from "../../store/contract.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";

const CHUNKS = ["a", "b", "c", "d", "e"];

/** A store whose tasks end without folded artifacts, as if they were too large. */
function withoutFolded(store: Store): Store {
  const commit = store.commit.bind(store);
  store.commit = (operations) =>
    commit(
      operations.map((operation) => {
        if (operation.kind !== "write" || operation.end === undefined) return operation;
        const { artifacts: _artifacts, ...end } = operation.end;
        return { ...operation, end };
      }),
    );
  return store;
}

/** A task that has ended and of which the store has the log but no folded artifacts. */
async function finished(retention: { logAge?: number; maxAge?: number }): Promise<{
  readonly harness: EngineHarness;
  readonly id: TaskId;
}> {
  const harness = await openHarness({
    agents: scripted(async (task) => {
      for (const text of CHUNKS) {
        await task.artifact("out").write(text);
        await task.flush();
      }
    }),
    openStore: (setup) => withoutFolded(createMemoryStore(setup)),
    retention,
  });
  const { id } = await harness.send("go");
  await turns(3);
  const record = await harness.shared.get(id, { artifacts: true });
  expect(record?.artifacts).toBeUndefined();
  return { harness, id };
}

/** Makes the store drop logs before it answers the next read of a log. */
async function sweepBeforeLog({ shared, clock }: EngineHarness): Promise<void> {
  await clock.advance(500);
  const log = shared.log.bind(shared);
  shared.log = async (...given) => {
    clock.adjust(clock.now() + 10_000);
    await shared.sweep();
    return log(...given);
  };
}

describe("events that the store drops between two reads", () => {
  test("do not remove content from a task that is being read", async () => {
    const { harness, id } = await finished({ logAge: 5000 });
    await using _closing = harness;
    await sweepBeforeLog(harness);
    const task = await harness.get(id);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: CHUNKS.join("") }]);
    expect((await harness.shared.get(id, { artifacts: false }))?.firstSeq).toBeGreaterThan(1);
  });

  test("do not remove content from a task in a list", async () => {
    const { harness, id } = await finished({ logAge: 5000 });
    await using _closing = harness;
    await sweepBeforeLog(harness);
    const { tasks } = await harness.engine.list({ scope: harness.scope(), limit: 5, artifacts: true });
    expect(tasks.map((task) => task.id)).toEqual([id]);
    expect(tasks[0]?.artifacts).toContain(CHUNKS.join(""));
  });

  test("do not make a deleted task look empty", async () => {
    const { harness, id } = await finished({ maxAge: 5000 });
    await using _closing = harness;
    await sweepBeforeLog(harness);
    expect(await harness.find(id)).toBeUndefined();
  });

  test("a deleted task is left out of a list", async () => {
    const { harness } = await finished({ maxAge: 5000 });
    await using _closing = harness;
    await sweepBeforeLog(harness);
    const { tasks } = await harness.engine.list({ scope: harness.scope(), limit: 5, artifacts: true });
    expect(tasks).toEqual([]);
  });

  test("a reader that resumes gets the whole task, not a wrong status", async () => {
    const { harness, id } = await finished({ logAge: 5000 });
    await using _closing = harness;
    await sweepBeforeLog(harness);
    const subscription = await harness.subscribe(id, { after: 3 });
    expect(subscription.resync).toBe(true);
    expect(subscription.opening.state).toBe("completed");
    expect(subscription.opening.artifacts).toContain(CHUNKS.join(""));
    subscription.close();
  });
});

describe("a node that has not seen the last commits of another node", () => {
  async function twoNodes() {
    const gate = createDeferred<void>();
    const harness = await openHarness({
      agents: scripted(async (task) => {
        await task.flush();
        await gate.promise;
        return "done";
      }),
      retention: { maxAge: 1000 },
    });
    const ticket = await harness.start("go");
    await harness.untilState(ticket.taskId, "working");
    const other = await harness.join();
    return { harness, other, gate, id: ticket.taskId };
  }

  test("does not reject a reader that is ahead of it", async () => {
    const { harness, other, gate, id } = await twoNodes();
    await using _closing = harness;
    const early = await other.subscribe(id);
    // The read after the notification of the other node is slow.
    const positions = other.store.positions.bind(other.store);
    let calls = 0;
    other.store.positions = (ids) => (++calls === 1 ? new Promise(() => {}) : positions(ids));
    gate.resolve();
    await harness.untilState(id, "completed");
    const { length } = await harness.log(id);
    expect(length).toBeGreaterThan(early.opening.seq);
    const subscription = await other.subscribe(id, { after: length });
    expect(await subscription.next()).toBeUndefined();
    subscription.close();
    early.close();
  });

  test("ends subscriptions and waiting sends if the task has ended on another node and was deleted", async () => {
    const { harness, other, gate, id } = await twoNodes();
    await using _closing = harness;
    const subscription = await other.subscribe(id);
    const ticket = await other.engine.find(other.scope(), id);
    if (ticket === undefined) throw new Error("There is no such task.");
    const waiting = other.settled(ticket).catch((error: unknown) => error);
    // The other node gets no hints, and its polls wait until the task is deleted.
    other.bus.publish = () => {};
    const positions = other.store.positions.bind(other.store);
    const isGone = createDeferred<void>();
    other.store.positions = (ids) => isGone.promise.then(() => positions(ids));
    gate.resolve();
    await harness.untilState(id, "completed");
    harness.clock.adjust(harness.clock.now() + 2000);
    expect(await harness.shared.sweep()).toBe(1);
    isGone.resolve();
    const next = subscription.next();
    await harness.advance(3000);
    expect(await Promise.race([next, turns(50).then(() => "waits")])).toBeUndefined();
    expect(await Promise.race([waiting, turns(50).then(() => "waits")])).toMatchObject({ code: "task-not-found" });
    subscription.close();
  });
});
