import { summarize } from "./statistics.ts";

/** How much slower the median may be. */
const TOLERANCE = 0.05;

/** Whether something became slower. Figures are of alternated runs, more is better. */
export interface Verdict {
  readonly ok: boolean;
  /** How the medians compare: -0.03 is 3 % less than before. */
  readonly change: number;
  /** Why, in words. */
  readonly reason: string;
}

/** A loss counts where it is more than 5 % and the new median lies below everything that was measured before. */
export function judge(before: readonly number[], after: readonly number[]): Verdict {
  const base = summarize(before);
  const { median } = summarize(after);
  const change = median / base.median - 1;
  if (change >= -TOLERANCE) return { ok: true, change, reason: change > TOLERANCE ? "quicker" : "within 5 %" };
  if (median >= base.min) return { ok: true, change, reason: "within the spread" };
  return { ok: false, change, reason: "slower" };
}
