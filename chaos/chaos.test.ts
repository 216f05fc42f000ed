import { describe, expect, it } from "vitest";
import { readChaosOptions } from "./options.ts";
import { reportOf } from "./report.ts";
import { runChaos } from "./run.ts";

/** Seconds, and the same decisions every time: `npm run chaos` takes longer and makes others. */
const SHORT = ["--seed", "short", "--minutes", "0.06", "--kills", "2", "--lanes", "2"];
/** Without the parts of V8 that end processes now and then; see `vitest.config.ts`. */
const SAFELY = "--node-options=--no-memory-protection-keys --no-sparkplug";

describe("a server that is killed, stopped and cut off", () => {
  it("loses nothing, repeats nothing, mixes nothing up and finishes everything", { timeout: 120_000 }, async () => {
    const options = readChaosOptions([...SHORT, SAFELY]);
    const result = await runChaos(options, () => {});
    expect(result.failures, reportOf(result)).toEqual([]);
    expect(result.counts).toMatchObject({ kills: 2 });
    expect(result.counts["tasks"]).toBeGreaterThan(5);
    expect(result.counts["events read"]).toBeGreaterThan(50);
  });
});

describe("the options of a run", () => {
  it("have defaults, and take what is given", () => {
    expect(readChaosOptions([])).toMatchObject({ duration: 60_000, kills: 10, clients: 3, lanes: 4, store: undefined });
    const options = readChaosOptions(["--seed", "x", "--store", "sqlite-slow", "--tolerate", "lost, stuck"]);
    expect(options).toMatchObject({ seed: "x", store: { failures: 0 } });
    expect([...options.tolerate]).toEqual(["lost", "stuck"]);
  });

  it.each([
    ["--minutes", "0", "--minutes must be a number from 0.01 on"],
    ["--kills", "1.5", "--kills must be a whole number from 0 on"],
    ["--store", "paper", "--store must be one of sqlite, sqlite-slow, sqlite-faulty"],
    ["--tolerate", "all", "--tolerate: all is not one of lost"],
  ])("refuse %s %s", (name, value, message) => {
    expect(() => readChaosOptions([name, value])).toThrow(message);
  });
});
