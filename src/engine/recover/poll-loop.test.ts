import { afterEach, describe, expect, test, vi } from "vitest";
import { type EngineHarness, openHarness, scripted } from "../../testing/engine-harness.ts";

const HOUR = 60 * 60 * 1000;

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

/** From now on each heartbeat returns a time that is later by this offset. */
function setStoreClock(offset: number): { readonly heartbeats: () => number } {
  const { shared } = harness;
  const heartbeat = shared.heartbeat.bind(shared);
  let count = 0;
  shared.heartbeat = async (node, leaseMs) => {
    count += 1;
    return { now: (await heartbeat(node, leaseMs)).now + offset };
  };
  return { heartbeats: () => count };
}

describe.each([2 * HOUR, -2 * HOUR])("a store whose clock is set by %d ms", (offset) => {
  test("moves neither the deadline of a running task nor a sleep", async () => {
    harness = await openHarness({
      agents: scripted(
        async (task) => {
          if (task.text === "sleep") await task.sleep(20_000);
          else await new Promise<never>(() => {});
        },
        { timeout: HOUR },
      ),
    });
    const working = await harness.start("work");
    const sleeping = await harness.start("sleep");
    const { heartbeats } = setStoreClock(offset);
    await harness.advance(19_000);
    expect(heartbeats()).toBeGreaterThan(1);
    for (const { taskId } of [working, sleeping]) expect((await harness.get(taskId)).status.state).toBe("working");
    await harness.advance(2000);
    expect((await harness.get(sleeping.taskId)).status.state).toBe("completed");
    await harness.advance(HOUR, 60_000);
    await harness.advance(10_000);
    expect((await harness.get(working.taskId)).status.message?.parts).toEqual([{ text: "Task timed out" }]);
  });
});

test("an engine sets its clock to the store's time when it starts", async () => {
  harness = await openHarness({ agents: scripted(async () => "done") });
  const before = harness.clock.now();
  setStoreClock(2 * HOUR);
  await harness.join();
  expect(harness.clock.now()).toBe(before + 2 * HOUR);
});

test("slow answers of the store do not move the engine's clock back", async () => {
  harness = await openHarness({ agents: scripted(async () => "done") });
  const { clock, shared } = harness;
  const heartbeat = shared.heartbeat.bind(shared);
  shared.heartbeat = async (node, leaseMs) => {
    const read = await heartbeat(node, leaseMs);
    await new Promise<void>((resolve) => clock.setTimer(clock.now() + 200, resolve));
    return read;
  };
  const adjust = vi.spyOn(clock, "adjust");
  await harness.advance(60_000);
  expect(adjust).not.toHaveBeenCalled();
});

test("an engine asks for the store's time again if the first answers were slow", async () => {
  harness = await openHarness({ agents: scripted(async () => "done") });
  const { clock, shared } = harness;
  const heartbeat = shared.heartbeat.bind(shared);
  const delays = [300, 100];
  let storeTime = clock.now() + HOUR;
  shared.heartbeat = async (node, leaseMs) => {
    await heartbeat(node, leaseMs);
    const now = storeTime;
    // The store reads its clock at once, and its answer takes a while.
    const delay = delays.shift() ?? 0;
    storeTime += delay;
    clock.adjust(clock.now() + delay);
    return { now };
  };
  await harness.join();
  expect(delays).toEqual([]);
  expect(clock.now()).toBe(storeTime);
});
