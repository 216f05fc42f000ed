/** The middle value, or the mean of the two middle values of an even number. `NaN` for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value that at least `share` (0–1) of all values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = ascending(values);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The summary of several runs of one measurement. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly runs: number;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = ascending(values);
  return {
    median: median(sorted),
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    runs: sorted.length,
  };
}

/** Ratios per run, so that a slow moment of the machine affects both sides of a ratio. */
export function ratios(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.flatMap((value, index) => {
    const other = theirs[index];
    return other === undefined ? [] : [value / other];
  });
}

/** The exponent k of `cost ~ size^k` between two measurements: 1 is linear, 2 quadratic. */
export function growthExponent(small: GrowthPoint, large: GrowthPoint): number {
  return Math.log(large.cost / small.cost) / Math.log(large.size / small.size);
}

export interface GrowthPoint {
  readonly size: number;
  readonly cost: number;
}

function ascending(values: readonly number[]): number[] {
  return Array.from(Float64Array.from(values).sort());
}
