import fc from "fast-check";
import { test } from "vitest";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { type HarnessOptions, turns } from "../testing/engine-harness.ts";
import { runTrial, TRIAL_ACTIONS } from "../testing/engine-trial.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { createUnreliableStore, type StoreMethod, type UnreliableStore } from "../testing/unreliable-store.ts";

const action = fc.record({ kind: fc.constantFrom(...TRIAL_ACTIONS), pick: fc.nat(20), amount: fc.nat(15) });
const actions = fc.array(action, { minLength: 5, maxLength: 80, size: "max" });

/** The same trials every time, so that a failure is the doing of the change at hand. */
const SEED = 1;

test("whatever messages, cancels, crashes, restarts and readers come in whatever order, the rules hold", async () => {
  const property = fc.asyncProperty(actions, (some) => runTrial(some));
  await fc.assert(property, { numRuns: 100, seed: SEED });
});

test("they hold over a file, too", async () => {
  await using folder = await temporaryFolder();
  let files = 0;
  const openStore: HarnessOptions["openStore"] = (setup) =>
    openSqliteStore({ ...setup, file: folder.file(`${++files}.db`), durability: "process" });
  const property = fc.asyncProperty(actions, (some) => runTrial(some, { openStore }));
  await fc.assert(property, { numRuns: 8, seed: SEED });
});

/** `ENGINE_RUNS=2000` tries more, others each time; `ENGINE_SEED` repeats what a failure printed. */
const RUNS = Number(process.env["ENGINE_RUNS"] ?? 60);
const RUNS_SEED = process.env["ENGINE_SEED"] ?? (process.env["ENGINE_RUNS"] === undefined ? SEED : undefined);

/** All that an engine calls, but for the heartbeat: an engine that cannot renew its lease at the start does not start. */
const FAILING: readonly StoreMethod[] = [
  ...(["commit", "get", "list", "log", "inbox", "steps", "findByMessage"] as const),
  ...(["positions", "due", "nextWake", "leave", "sweep"] as const),
];
const faults = fc.record({
  seed: fc.nat(),
  delay: fc.constantFrom(1, 4, 12),
  failures: fc.constantFrom(0, 0, 0.05, 0.2),
});

test("they hold over a store whose calls are delayed and fail at random", async () => {
  const property = fc.asyncProperty(actions, faults, (some, { seed, delay, failures }) => {
    const stores: UnreliableStore[] = [];
    const wrapStore: HarnessOptions["wrapStore"] = (inner) => {
      const store = createUnreliableStore(inner, {
        seed: seed + stores.length,
        wait: turns,
        delay: { min: 0, max: delay },
        failures: Object.fromEntries(FAILING.map((method) => [method, failures])),
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
