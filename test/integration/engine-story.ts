import fc from "fast-check";
import { sampled } from "../fixtures/budget.ts";
import type { Action, EngineWorld, Happening, WorldOptions } from "./engine-world.ts";

/**
 * The default seed is fixed, so a failure is caused by the current change. `ENGINE_MODEL_RUNS=5000` runs more scenarios
 * with a random seed; `ENGINE_MODEL_SEED` repeats the seed that a failure printed.
 */
export const RUNS: number = Number(process.env["ENGINE_MODEL_RUNS"] ?? sampled(40, 300));
const SEED = process.env["ENGINE_MODEL_SEED"] ?? (process.env["ENGINE_MODEL_RUNS"] === undefined ? "1" : undefined);

const artifactName = fc.constantFrom("a", "b");
const text = fc.constantFrom("x", "y", "z");
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ does: fc.constant("status" as const), text }) },
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant("write" as const), to: artifactName, text, varies: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("step" as const),
      name: fc.constantFrom("one", "two"),
      to: artifactName,
      texts: fc.array(text, { maxLength: 2 }),
      varies: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ does: "ask" as const }) },
  { weight: 1, arbitrary: fc.constant({ does: "next" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("sleep" as const), milliseconds: fc.constantFrom(0, 10, 5000, 90_000) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("pause" as const), turns: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.constant({ does: "flush" as const }) },
);
const script = fc.array(action, { maxLength: 8 });
const number = fc.nat({ max: 11 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("send" as const), node: number, script }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("say" as const), node: number, task: number, script }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("answer" as const), node: number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), node: number, task: number }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("crash" as const),
      node: number,
      commit: fc.constantFrom("none", "lost", "unanswered"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("shutdown" as const), node: number }) },
  { weight: 2, arbitrary: fc.constant({ kind: "join" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mute" as const), node: number }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      milliseconds: fc.constantFrom(1, 500, 6000, 40_000, 95_000),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("read" as const), node: number, task: number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop reading" as const), reader: number }) },
);
/** What happens to the engines of one world. */
export interface Story extends Pick<WorldOptions, "onRestart" | "transforms"> {
  readonly happenings: readonly Happening[];
}
type Faults = NonNullable<WorldOptions["faults"]>;

export const story: fc.Arbitrary<Story> = fc.record({
  onRestart: fc.constantFrom("resume", "resume", "resume", "retry", "fail"),
  transforms: fc.boolean(),
  happenings: fc.array(happening, { minLength: 4, maxLength: 30 }),
});

export const faults: fc.Arbitrary<Faults> = fc.record({
  seed: fc.nat(),
  delay: fc.constantFrom(1, 4, 10),
  failures: fc.constantFrom(0, 0, 0.05, 0.2),
  lost: fc.constantFrom(0, 0, 0.05, 0.2),
});

export async function live(world: EngineWorld, happenings: readonly Happening[]): Promise<void> {
  try {
    for (const each of happenings) await world.happen(each);
    await world.conclude();
  } finally {
    await world.close();
  }
}

/** A failure prints the seed and the shortest failing scenario found. */
export function parameters(runs: number): fc.Parameters<unknown> {
  return { numRuns: runs, ...(SEED !== undefined && { seed: Number(SEED) }) };
}
