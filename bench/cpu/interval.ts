import { median } from "../statistics.ts";

/** The typical factor between two servers, with its 95 % confidence interval. */
export interface Interval {
  readonly factor: number;
  readonly low: number;
  readonly high: number;
}

/** The chance that the median lies outside of the interval. */
const ERROR = 0.05;

/**
 * The median of factors that were measured round by round, and its interval by order statistics, which a few disturbed
 * rounds hardly change. With fewer than six factors the interval has no bounds; without any, the factor is `NaN`.
 */
export function interval(factors: readonly number[]): Interval {
  const sorted = [...factors].sort((one, other) => one - other);
  const skipped = skippedAtEachEnd(sorted.length);
  return {
    factor: median(sorted),
    low: skipped < 0 ? 0 : (sorted[skipped] ?? Number.NaN),
    high: skipped < 0 ? Number.POSITIVE_INFINITY : (sorted.at(-1 - skipped) ?? Number.NaN),
  };
}

/** How many of the smallest and of the largest values lie outside of the interval; -1: even all values are too few. */
function skippedAtEachEnd(count: number): number {
  // The number of values below the median is binomial with a probability of one half.
  let term = 0.5 ** count;
  let tail = 0;
  let skipped = -1;
  for (; 2 * (tail + term) <= ERROR && skipped < count; skipped += 1) {
    tail += term;
    term *= (count - skipped - 1) / (skipped + 2);
  }
  return skipped;
}

/** Half the width of the interval, relative to the factor: 0.02 is ±2 %. */
export function relativeMargin({ factor, low, high }: Interval): number {
  return (high - low) / factor / 2;
}
