import { describe, expect, it } from "vitest";
import { readChaosOptions } from "./options.ts";
import { reportOf } from "./report.ts";
import { runChaos } from "./run.ts";

/** A run of a few seconds with a fixed seed; `npm run chaos` runs longer, with random seeds. */
const SHORT = ["--seed", "short", "--minutes", "0.05", "--kills", "2", "--concurrency", "2"];
/** Disables V8 features that occasionally crash processes; see `vitest.config.ts`. */
const SAFELY = "--node-options=--no-memory-protection-keys --no-sparkplug";

describe("a server that is killed, stopped and disconnected", () => {
  it("loses no event, repeats none, keeps their order, and finishes every task", { timeout: 120_000 }, async () => {
    const options = readChaosOptions([...SHORT, SAFELY]);
    const result = await runChaos(options, () => {});
    expect(result.failures, reportOf(result)).toEqual([]);
    expect(result.counts).toMatchObject({ kills: 2 });
    expect(result.counts["tasks"]).toBeGreaterThan(5);
    expect(result.counts["events read"]).toBeGreaterThan(50);
  });
});

describe("the options of a run", () => {
  it("have defaults, and accept values", () => {
    expect(readChaosOptions([])).toMatchObject({
      duration: 60_000,
      kills: 10,
      clients: 3,
      concurrency: 4,
      store: undefined,
    });
    const options = readChaosOptions(["--seed", "x", "--store", "sqlite-slow", "--tolerate", "lost, stuck"]);
    expect(options).toMatchObject({ seed: "x", store: { delay: { min: 0, max: 40 } } });
    expect([...options.tolerate]).toEqual(["lost", "stuck"]);
  });

  it.each([
    ["--minutes", "0", "--minutes must be a number of at least 0.01"],
    ["--kills", "1.5", "--kills must be an integer of at least 0"],
    ["--store", "paper", "--store must be one of sqlite, sqlite-slow, sqlite-faulty, sqlite-lossy"],
    ["--tolerate", "all", "--tolerate: all is not one of lost"],
  ])("refuse %s %s", (name, value, message) => {
    expect(() => readChaosOptions([name, value])).toThrow(message);
  });
});
