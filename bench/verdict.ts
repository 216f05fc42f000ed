import type { Interval } from "./cpu/interval.ts";

/** How much more processor time a change may cost, as a factor. */
const TOLERANCE = 1.03;

/** Whether a change costs processor time. */
export interface Verdict {
  readonly ok: boolean;
  /** The reason as text. */
  readonly reason: string;
}

/**
 * Judges the processor time of the working tree as a multiple of an earlier commit's. It counts as more if it is over
 * 3 % more and the whole 95 % interval lies above the earlier cost.
 */
export function judge({ factor, low, high }: Interval): Verdict {
  if (!(factor > 0)) return { ok: false, reason: "not measured" };
  if (high < 1) return { ok: true, reason: "less" };
  if (factor <= TOLERANCE) return { ok: true, reason: low > 1 ? "more, within 3 %" : "no difference" };
  return low > 1 ? { ok: false, reason: "more" } : { ok: true, reason: "no difference within the interval" };
}
