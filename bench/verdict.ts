import { summarize } from "./statistics.ts";

/** How much slower the median may be, as a fraction. */
const TOLERANCE = 0.05;

/** Whether a server became slower. The figures are of alternating runs; larger is better. */
export interface Verdict {
  readonly ok: boolean;
  /** The relative change of the medians: -0.03 is 3 % less than before. */
  readonly change: number;
  /** The reason as text. */
  readonly reason: string;
}

/** A loss counts if it is more than 5 % and the new median lies below all earlier figures. */
export function judge(before: readonly number[], after: readonly number[]): Verdict {
  const base = summarize(before);
  const { median } = summarize(after);
  const change = median / base.median - 1;
  if (change >= -TOLERANCE) return { ok: true, change, reason: change > TOLERANCE ? "quicker" : "within 5 %" };
  if (median >= base.min) return { ok: true, change, reason: "within the spread" };
  return { ok: false, change, reason: "slower" };
}
