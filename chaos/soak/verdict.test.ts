import { describe, expect, it } from "vitest";
import { ALLOWANCES, LEAST_SAMPLES, type Measure, type Sample, verdictsOf } from "./verdict.ts";

const MB = 1024 * 1024;
const FLAT: Sample = { heap: 50 * MB, rss: 150 * MB, files: 40, store: 20 * MB, wal: 4 * MB, loopDelay: 20 };
const MEASURES = Object.keys(ALLOWANCES) as Measure[];

/** The measures that grew, if one of them has these values and the others are constant. */
function grown(measure: Measure, valueAt: (index: number) => number, count = 60): string[] {
  const samples = Array.from({ length: count }, (_, index) => ({ ...FLAT, [measure]: valueAt(index) }));
  return verdictsOf(samples).flatMap(({ measure: name, grew }) => (grew ? [name] : []));
}

const base = (measure: Measure): number => FLAT[measure] ?? 0;

/** The growth that is just allowed for the constant value. */
const allowance = (measure: Measure): number =>
  Math.max(ALLOWANCES[measure].amount, ALLOWANCES[measure].part * base(measure));

/** Rises from the second sample on, faster and faster. */
const rising = (measure: Measure) => (index: number) => base(measure) + allowance(measure) * (1.1 ** index - 1);

describe.each(MEASURES)("the verdict on %s", (measure) => {
  it("reports a rise from the first sample to the last", () => {
    expect(grown(measure, rising(measure))).toEqual([measure]);
  });

  it("reports a rise in steps, and a rise with fluctuations", () => {
    const at = rising(measure);
    expect(grown(measure, (index) => at(index - (index % 15)))).toEqual([measure]);
    expect(grown(measure, (index) => at(index) * (1 + (index % 7) / 10))).toEqual([measure]);
  });

  it("reports slightly more than the allowed growth, and accepts slightly less", () => {
    const late = (part: number) => (index: number) => base(measure) + (index < 45 ? 0 : part * allowance(measure));
    expect(grown(measure, late(1.1))).toEqual([measure]);
    expect(grown(measure, late(0.9))).toEqual([]);
  });

  it("accepts constant, falling and fluctuating values", () => {
    expect(grown(measure, () => base(measure))).toEqual([]);
    expect(grown(measure, (index) => base(measure) * (2 - index / 60))).toEqual([]);
    expect(grown(measure, (index) => base(measure) * (1 + (index % 9)))).toEqual([]);
  });

  it("accepts a rise at the beginning that stops, and a single peak", () => {
    expect(grown(measure, (index) => base(measure) * Math.min(5, 1 + index / 3))).toEqual([]);
    expect(grown(measure, (index) => base(measure) * (index === 55 ? 20 : 1))).toEqual([]);
  });
});

describe("samples", () => {
  it("may lack open files", () => {
    const { files: _, ...rest } = FLAT;
    const verdicts = verdictsOf(Array.from({ length: LEAST_SAMPLES }, () => rest));
    expect(verdicts.map(({ measure }) => measure)).not.toContain("files");
  });

  it("need a minimum number", () => {
    expect(() => verdictsOf(Array.from({ length: LEAST_SAMPLES - 1 }, () => FLAT))).toThrow("15 samples are too few");
  });
});
