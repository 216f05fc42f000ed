import { afterEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/contract.ts";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";

const LEASE = 10_000;

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

/** From now on, renewals of this store are neither answered nor refused. Returns a function that lets them pass. */
function holdRenewals(store: Store): () => void {
  const heartbeat = store.heartbeat.bind(store);
  const held = Promise.withResolvers<void>();
  store.heartbeat = async (node, leaseMs) => {
    await held.promise;
    return heartbeat(node, leaseMs);
  };
  return held.resolve;
}

describe("a node whose lease is not renewed", () => {
  test("aborts its runs at half of the lease, even while the renewal is still under way", async () => {
    const aborted: unknown[] = [];
    harness = await openHarness({
      leaseMs: LEASE,
      agents: scripted(async (task) => {
        task.signal.addEventListener("abort", () => aborted.push(task.signal.reason));
        await new Promise<never>(() => {});
      }),
    });
    await harness.start("work");
    const pass = holdRenewals(harness.shared);
    await harness.advance(LEASE / 2 - 1000);
    expect(aborted).toEqual([]);
    await harness.advance(3000);
    expect(aborted).toMatchObject([{ reason: "lease-lost" }]);
    pass();
    await harness.advance(1000);
  });

  test("begins no step until it is renewed, and none of a task that another node has claimed", async () => {
    const steps: string[] = [];
    const gate = Promise.withResolvers<void>();
    harness = await openHarness({
      leaseMs: LEASE,
      agents: scripted(async (task) => {
        await task.status("ready");
        if (task.text === "taken") await gate.promise;
        await task.step("once", () => {
          steps.push(`${task.text} ${task.attempt}`);
        });
        return "done";
      }),
    });
    const { taskId } = await harness.start("taken");
    const { clock, shared } = harness;
    const pass = holdRenewals(shared);
    // As after SIGSTOP: time has passed, and no timer has fired yet.
    const { now } = clock;
    clock.now = () => now.call(clock) + LEASE;
    gate.resolve();
    await turns(5);
    expect(steps).toEqual([]);
    await shared.commit([{ kind: "claim", task: taskId, node: "another", force: true }]);
    pass();
    await harness.advance(2 * LEASE);
    expect(steps).not.toContain("taken 1");
  });
});

test("tasks that a node releases when it shuts down continue on another node at once, without a poll", async () => {
  const begun: string[] = [];
  const agents = scripted(async (task) => {
    begun.push(`attempt ${task.attempt}`);
    if (task.attempt === 1) await new Promise<never>(() => {});
    return "done";
  });
  harness = await openHarness({ agents });
  const other = await harness.join();
  const { taskId } = await harness.start("work");
  const time = harness.clock.now();
  const drained = harness.engine.drain(0);
  await harness.advance(10);
  await drained;
  for (let turn = 0; turn < 500 && begun.length < 2; turn++) await turns(1);
  expect(begun).toEqual(["attempt 1", "attempt 2"]);
  expect(harness.clock.now() - time).toBeLessThan(100);
  await other.advance(10);
  expect((await other.get(taskId)).status.state).toBe("completed");
});

test("a node that loses a task keeps watching it for its readers", async () => {
  harness = await openHarness({
    agents: scripted(async (task) => {
      for (;;) {
        await task.sleep(1000);
        await task.status("still here");
      }
    }),
  });
  const { bus, shared } = harness;
  const watched: string[] = [];
  bus.watch = (task) => {
    watched.push(task);
    return () => {};
  };
  const { taskId } = await harness.start("work");
  const subscription = await harness.engine.subscribe(harness.scope(), taskId, {});
  expect(watched).toEqual([]);
  await shared.heartbeat("another", 60_000);
  await shared.commit([{ kind: "claim", task: taskId, node: "another", force: true }]);
  await harness.advance(5000);
  expect(watched).toContain(taskId);
  subscription?.close();
});

test("a task that the poll loop claims while its node is claiming it for another reason is not forgotten", async () => {
  harness = await openHarness({
    agents: scripted(async (task) => {
      while (task.attempt === 1) {
        await task.sleep(500);
        await task.status("still here");
      }
      return "done";
    }),
  });
  const { shared } = harness;
  const { taskId } = await harness.start("work");
  // Another node claims the task and dies. The run here is refused, and its node tries to claim the task again: it has read that the other
  // node holds it, and goes on only after the poll has claimed it.
  await shared.heartbeat("gone", 3000);
  await shared.commit([{ kind: "claim", task: taskId, node: "gone", force: true }]);
  const get = shared.get.bind(shared);
  const held = Promise.withResolvers<void>();
  shared.get = async (id, options) => {
    const record = await get(id, options);
    if (record?.node === "gone") await held.promise;
    return record;
  };
  await harness.advance(6000);
  expect((await get(taskId, { artifacts: false }))?.node).toBe(harness.node);
  held.resolve();
  await harness.advance(5000);
  expect((await get(taskId, { artifacts: false }))?.head.state).toBe("completed");
});
