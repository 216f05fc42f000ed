import { expect, test } from "vitest";
import { PushTrial } from "../../src/push/test/push-trial.ts";
import type { Store } from "../../src/store/contract.ts";
import { type StoreMethod, StoreWrapper } from "../../src/store/store-wrapper.ts";
import { openHarness, scripted, turns } from "../../src/testing/engine-harness.ts";
import { sampled } from "../fixtures/budget.ts";

const TASKS = sampled(500, 10_000);
const SECONDS = 60;

/** Counts the calls of each method. */
class CountingStore extends StoreWrapper {
  readonly calls = new Map<StoreMethod, number>();

  protected override around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    return call();
  }
}

test.each([
  { parkAfter: 1e9, kind: "in memory" },
  { parkAfter: 1000, kind: "parked" },
])(
  "a node with thousands of waiting tasks ($kind) makes at most 5 store calls a second while nothing happens",
  async ({ parkAfter }) => {
    const stores: CountingStore[] = [];
    await using harness = await openHarness({
      agents: scripted((task) => task.ask("Well?"), { concurrency: 20_000, queue: 20_000 }),
      parkAfter,
      limits: { maxRunsPerOwner: 20_000 },
      wrapStore: (inner: Store) => {
        const store = new CountingStore(inner);
        stores.push(store);
        return store;
      },
    });
    await using push = new PushTrial(harness, new Map(), {});
    await push.start();
    for (let begun = 0; begun < TASKS; begun += 500)
      await Promise.all(Array.from({ length: 500 }, (_, index) => harness.start(`${begun + index}`)));
    await harness.until(() => harness.engine.counts().live === TASKS, "all tasks to wait");
    const last = await harness.start("followed");
    // A reader in this process.
    const reader = await harness.subscribe(last.taskId);
    await harness.advance(40_000, 5000);
    await turns(20);
    for (const store of stores) store.calls.clear();
    await harness.advance(SECONDS * 1000, 100);
    const calls = new Map<string, number>();
    for (const store of stores)
      for (const [method, count] of store.calls) calls.set(method, (calls.get(method) ?? 0) + count);
    const perSecond = [...calls.values()].reduce((sum, count) => sum + count, 0) / SECONDS;
    expect(calls.get("claimDue")).toBeGreaterThan(SECONDS / 2);
    expect(perSecond, JSON.stringify([...calls])).toBeLessThanOrEqual(5);
    reader.close();
  },
);
