import { afterEach, describe, expect, test, vi } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { storeContract } from "../../testing/store-contract.ts";
import { checkListAgainstModel } from "../../testing/store-model.ts";

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
