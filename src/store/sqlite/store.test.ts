import type * as threads from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import { IS_FULL, sampled } from "../../../test/fixtures/budget.ts";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { storeContract } from "../../testing/store-contract.ts";
import { checkListAgainstModel } from "../../testing/store-model.ts";

// Most of the time of a case would be the start of its thread. In full, each store has a thread of its own.
vi.mock("node:worker_threads", async (original) => {
  const real = await original<typeof threads>();
  if (IS_FULL) return real;
  const { reusedWorker } = await import("../../testing/reused-worker.ts");
  return { ...real, Worker: reusedWorker(real) };
});

afterEach(() => vi.restoreAllMocks());

describe("the SQLite store", () => {
  for (const { name, run } of storeContract) {
    test(name, async () => {
      await using trial = await sqliteTrial();
      let files = 0;
      await run((setup) => trial.open({ file: trial.folder.file(`${++files}.db`), ...setup }));
    });
  }

  test("ignores changes of the system clock", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    const system = Date.now.bind(Date);
    const { now } = await store.heartbeat("a", 1000);
    for (const jump of [7_200_000, -7_200_000]) {
      vi.spyOn(Date, "now").mockImplementation(() => system() + jump);
      expect(Math.abs((await store.heartbeat("a", 1000)).now - now)).toBeLessThan(3_600_000);
    }
  });

  test("lists and counts like a filter and sort over all tasks", async () => {
    await using trial = await sqliteTrial();
    await checkListAgainstModel(await trial.open(), sampled(30, 100));
  });
});
