import { describe, test } from "vitest";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { storeContract } from "../../testing/store-contract.ts";
import { checkListAgainstModel } from "../../testing/store-model.ts";

describe("the SQLite store", () => {
  for (const { name, run } of storeContract) {
    test(name, async () => {
      await using trial = await sqliteTrial();
      let files = 0;
      await run((setup) => trial.open({ file: trial.folder.file(`${++files}.db`), ...setup }));
    });
  }

  test("lists and counts as a plain filter and sort would", async () => {
    await using trial = await sqliteTrial();
    await checkListAgainstModel(await trial.open(), 100);
  });
});
