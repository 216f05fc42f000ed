/** What a server process used at one moment. Sizes are bytes, delays milliseconds. */
export interface Sample {
  /** After a full garbage collection. */
  readonly heap: number;
  readonly rss: number;
  /** Open file descriptors; absent where the system does not say. */
  readonly files?: number | undefined;
  /** The size of the store's file. */
  readonly store: number;
  /** The size of its write-ahead log. */
  readonly wal: number;
  /** 99 % of the event loop's turns since the last sample were delayed by less. */
  readonly loopDelay: number;
}

export type Measure = keyof Sample;

/** How much a measure may grow: by this part of itself, or by this much, whichever is more. */
interface Allowance {
  readonly part: number;
  readonly amount: number;
}

const MB = 1024 * 1024;

/** What counts as growth. Less than this is told from noise only by a longer run. */
export const ALLOWANCES: Readonly<Record<Measure, Allowance>> = {
  heap: { part: 0.1, amount: 4 * MB },
  rss: { part: 0.15, amount: 32 * MB },
  files: { part: 0.25, amount: 16 },
  store: { part: 0.25, amount: 8 * MB },
  wal: { part: 0.5, amount: 8 * MB },
  // Other programs on the machine move it, too.
  loopDelay: { part: 4, amount: 500 },
};

/** The least samples that a verdict can be made from: four in each quarter. */
export const LEAST_SAMPLES = 16;

export interface Verdict {
  readonly measure: Measure;
  /** The medians of the second and of the last quarter. */
  readonly before: number;
  readonly after: number;
  /** How much more `after` may be than `before`. */
  readonly allowed: number;
  readonly grew: boolean;
}

/**
 * Whether anything grows without end: compares the medians of the second and of the last quarter of the samples. The first quarter, in which caches fill
 * and the store reaches the size that its retention keeps, does not count. Medians are not moved by what rises and falls. Throws a
 * `RangeError` for too few samples.
 */
export function verdictsOf(samples: readonly Sample[]): readonly Verdict[] {
  if (samples.length < LEAST_SAMPLES) {
    throw new RangeError(`${samples.length} samples are too few for a verdict; it takes ${LEAST_SAMPLES}.`);
  }
  const quarter = samples.length / 4;
  const second = samples.slice(Math.ceil(quarter), Math.ceil(2 * quarter));
  const last = samples.slice(Math.floor(3 * quarter));
  const measures = Object.keys(ALLOWANCES) as Measure[];
  return measures.flatMap((measure): Verdict[] => {
    const before = medianOf(valuesOf(second, measure));
    const after = medianOf(valuesOf(last, measure));
    if (before === undefined || after === undefined) return [];
    const { part, amount } = ALLOWANCES[measure];
    const allowed = Math.max(before * part, amount);
    return [{ measure, before, after, allowed, grew: after - before > allowed }];
  });
}

function valuesOf(samples: readonly Sample[], measure: Measure): number[] {
  return samples.flatMap((sample) => sample[measure] ?? []);
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
