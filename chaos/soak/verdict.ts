/** The resource use of a server process at one moment. Sizes in bytes, delays in milliseconds. */
export interface Sample {
  /** Heap after a full garbage collection. */
  readonly heap: number;
  readonly rss: number;
  /** Open file descriptors; absent if the system does not report them. */
  readonly files?: number | undefined;
  /** Size of the store's file. */
  readonly store: number;
  /** Size of the write-ahead log. */
  readonly wal: number;
  /** The 99th percentile of the event-loop delay since the last sample. */
  readonly loopDelay: number;
}

export type Measure = keyof Sample;

/** The allowed growth of a measure: this fraction of its value, or this amount, whichever is larger. */
interface Allowance {
  readonly part: number;
  readonly amount: number;
}

const MB = 1024 * 1024;

/** Larger differences count as growth. To find a smaller one, run longer. */
export const ALLOWANCES: Readonly<Record<Measure, Allowance>> = {
  heap: { part: 0.1, amount: 4 * MB },
  rss: { part: 0.15, amount: 32 * MB },
  files: { part: 0.25, amount: 16 },
  store: { part: 0.25, amount: 8 * MB },
  wal: { part: 0.5, amount: 8 * MB },
  // Other programs on the machine affect it.
  loopDelay: { part: 4, amount: 500 },
};

/** The minimum number of samples for a verdict: four per quarter. */
export const LEAST_SAMPLES = 16;

export interface Verdict {
  readonly measure: Measure;
  /** The medians of the second and of the last quarter. */
  readonly before: number;
  readonly after: number;
  /** How much `after` may exceed `before`. */
  readonly allowed: number;
  readonly grew: boolean;
}

/**
 * Decides whether a measure grows without limit: compares the medians of the second and of the last quarter of the
 * samples. The first quarter does not count: caches fill, and the store grows to the size that retention keeps. Medians
 * ignore short fluctuations. Throws a `RangeError` for too few samples.
 */
export function verdictsOf(samples: readonly Sample[]): readonly Verdict[] {
  if (samples.length < LEAST_SAMPLES) {
    throw new RangeError(`${samples.length} samples are too few for a verdict; at least ${LEAST_SAMPLES} are needed.`);
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
