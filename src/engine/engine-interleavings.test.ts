import fc from "fast-check";
import { test } from "vitest";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { HarnessOptions } from "../testing/engine-harness.ts";
import { runTrial, TRIAL_ACTIONS } from "../testing/engine-trial.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

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
  const property = fc.asyncProperty(actions, (some) => runTrial(some, openStore));
  await fc.assert(property, { numRuns: 8, seed: SEED });
});
