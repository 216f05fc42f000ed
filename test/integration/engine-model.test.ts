import fc from "fast-check";
import { describe, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { temporaryFolder } from "../../src/testing/temporary-folder.ts";
import { faults, live, parameters, RUNS, story } from "./engine-story.ts";
import { EngineWorld, type WorldOptions } from "./engine-world.ts";

describe("the log invariants hold for any sequence of engine events", () => {
  test("with an in-memory store", { timeout: 11 * 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(story, ({ happenings, ...options }) => live(new EngineWorld(options), happenings)),
      parameters(RUNS),
    );
  });

  test("with a store whose calls are delayed and fail at random", { timeout: 11 * 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(story, faults, ({ happenings, ...options }, some) =>
        live(new EngineWorld({ ...options, faults: some }), happenings),
      ),
      // Such a scenario takes long to fail, so it is printed without shrinking.
      { ...parameters(Math.ceil(RUNS / 3)), endOnFailure: true },
    );
  });

  test("with a SQLite file", { timeout: 11 * 60_000 }, async () => {
    await using folder = await temporaryFolder();
    let files = 0;
    await fc.assert(
      fc.asyncProperty(story, ({ happenings, ...options }) => {
        files += 1;
        const file = folder.file(`${files}.db`);
        const openStore: NonNullable<WorldOptions["openStore"]> = (setup) =>
          openSqliteStore({ file, durability: "process", ...setup });
        return live(new EngineWorld({ ...options, openStore, isSlow: true }), happenings);
      }),
      parameters(Math.ceil(RUNS / 60)),
    );
  });
});
