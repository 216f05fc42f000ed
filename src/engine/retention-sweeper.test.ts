import { describe, expect, test } from "vitest";
import type { Store } from "../store/contract.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { openHarness, scripted } from "../testing/engine-harness.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { sqliteTrial } from "../testing/sqlite-trial.ts";
import { createOf, endOf, headOf, taskId } from "../testing/store-operations.ts";
import { RetentionSweeper } from "./retention-sweeper.ts";

const MINUTE = 60_000;
const COUNT = 3000;

interface Setup {
  readonly retention: { readonly maxAge?: number; readonly logAge?: number };
  readonly now: () => number;
}

async function commitFinished(store: Store, statusAt: number): Promise<void> {
  const end = endOf(2, { head: headOf("completed", { statusAt }) });
  await store.commit(Array.from({ length: COUNT }, (_, n) => createOf(taskId(n), {}, { end })));
}

async function expectSweptWithinOneInterval(openStore: (setup: Setup) => Store | Promise<Store>): Promise<void> {
  await using harness = await openHarness({
    agents: scripted(async () => "done"),
    retention: { maxAge: MINUTE },
    openStore,
  });
  const { shared, clock } = harness;
  await commitFinished(shared, clock.now() - MINUTE);
  await harness.advance(MINUTE, MINUTE);
  const ids = Array.from({ length: COUNT }, (_, n) => taskId(n));
  await harness.until(async () => (await shared.positions(ids)).length === 0, "all expired tasks to be deleted");
}

describe("3000 expired tasks are deleted within one sweep interval", () => {
  test("from the memory store", () => expectSweptWithinOneInterval(createMemoryStore));

  test("from the SQLite store", async () => {
    await using trial = await sqliteTrial();
    await expectSweptWithinOneInterval((setup) => trial.open(setup));
  });
});

test("the logs of 3000 finished tasks are dropped within one sweep interval", async () => {
  await using trial = await sqliteTrial();
  const clock = new FakeClock();
  const store = await trial.open({ retention: { logAge: MINUTE }, now: () => clock.now() });
  await commitFinished(store, clock.now() - 2 * MINUTE);
  const sweeper = new RetentionSweeper({ store, clock, logger: SILENT });
  sweeper.start();
  const last = taskId(COUNT - 1);
  await expect.poll(async () => (await store.get(last, { artifacts: false }))?.firstSeq, { timeout: 5000 }).toBe(3);
  await sweeper.stop();
});

const nothing = (): void => undefined;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

describe("a sweep", () => {
  test("lets the event loop turn between two batches, and ends after the present batch when it is stopped", async () => {
    let batches = 0;
    const endless = { sweep: async () => ++batches };
    const sweeper = new RetentionSweeper({ store: endless, clock: new FakeClock(), logger: SILENT });
    sweeper.start();
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(batches).toBeGreaterThan(1);
    expect(batches).toBeLessThan(10);
    await sweeper.stop();
    const stoppedAt = batches;
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(batches).toBe(stoppedAt);
  });

  test("that fails is logged, and repeated after 60 seconds", async () => {
    const clock = new FakeClock();
    const warnings: string[] = [];
    let calls = 0;
    const store = {
      sweep: async () => {
        calls += 1;
        if (calls === 1) throw new Error("disk");
        return 0;
      },
    };
    const logger = { ...SILENT, warn: (message: string) => void warnings.push(message) };
    const sweeper = new RetentionSweeper({ store, clock, logger });
    sweeper.start();
    await clock.advance(MINUTE - 1);
    expect([calls, warnings.length]).toEqual([1, 1]);
    await clock.advance(1);
    expect(calls).toBe(2);
    await sweeper.stop();
  });
});
