import fc from "fast-check";
import { test } from "vitest";
import { sampled } from "../../test/fixtures/budget.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { type HarnessOptions, turns } from "../testing/engine-harness.ts";
import { runTrial, TRIAL_ACTIONS } from "../testing/engine-trial.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { createUnreliableStore, type StoreMethod, type UnreliableStore } from "../testing/unreliable-store.ts";

const action = fc.record({ kind: fc.constantFrom(...TRIAL_ACTIONS), pick: fc.nat(20), amount: fc.nat(15) });
const actions = fc.array(action, { minLength: 5, maxLength: 80, size: "max" });

/** A fixed seed, so that a failure is caused by the change under test. */
const SEED = 1;

test("the invariants hold for random orders of messages, cancels, crashes, restarts and readers", async () => {
  const property = fc.asyncProperty(actions, (some) => runTrial(some));
  await fc.assert(property, { numRuns: sampled(50, 100), seed: SEED });
});

test("the invariants hold with an SQLite store", async () => {
  await using folder = await temporaryFolder();
  let files = 0;
  const openStore: HarnessOptions["openStore"] = (setup) =>
    openSqliteStore({ ...setup, file: folder.file(`${++files}.db`), durability: "process" });
  const property = fc.asyncProperty(actions, (some) => runTrial(some, { openStore }));
  await fc.assert(property, { numRuns: sampled(4, 8), seed: SEED });
});

/** `ENGINE_RUNS=2000` runs more trials with a random seed; `ENGINE_SEED` repeats the seed that a failure printed. */
const RUNS = Number(process.env["ENGINE_RUNS"] ?? sampled(30, 60));
const RUNS_SEED = process.env["ENGINE_SEED"] ?? (process.env["ENGINE_RUNS"] === undefined ? SEED : undefined);

/** All methods that an engine calls except heartbeat: without a lease the engine does not start. */
const FAILING: readonly StoreMethod[] = [
  ...(["commit", "get", "list", "log", "inbox", "steps", "findByMessage"] as const),
  ...(["positions", "changes", "claimDue", "waitingEntries", "claimsOf", "leave", "sweep"] as const),
];
const faults = fc.record({
  seed: fc.nat(),
  delay: fc.constantFrom(1, 4, 12),
  failures: fc.constantFrom(0, 0, 0.05, 0.2),
  lost: fc.constantFrom(0, 0, 0.05, 0.2),
});

test("the invariants hold with a store whose calls are delayed, fail, and lose their answers at random", async () => {
  const property = fc.asyncProperty(actions, faults, (some, { seed, delay, failures, lost }) => {
    const stores: UnreliableStore[] = [];
    const wrapStore: HarnessOptions["wrapStore"] = (inner) => {
      const store = createUnreliableStore(inner, {
        seed: seed + stores.length,
        wait: turns,
        delay: { min: 0, max: delay },
        failures: Object.fromEntries(FAILING.map((method) => [method, failures])),
        lost,
        reorders: true,
      });
      stores.push(store);
      return store;
    };
    const beforeCheck = (): void => {
      for (const store of stores) store.setFaults({});
    };
    return runTrial(some, { wrapStore, beforeCheck });
  });
  await fc.assert(property, {
    numRuns: RUNS,
    // A failing trial takes seconds; hundreds of shorter ones would take an hour.
    endOnFailure: true,
    ...(RUNS_SEED !== undefined && { seed: Number(RUNS_SEED) }),
  });
}, 600_000);
