import { plain } from "../format.ts";
import type { Row } from "../scenario.ts";
import { median, ratios } from "../statistics.ts";
import { type Interval, interval } from "./interval.ts";
import { type CpuCosts, totals } from "./measure-cpu.ts";
import { THREADS, type ThreadTimes } from "./thread-times.ts";

/** `43 µs per event (main 31, writer 8.0, helpers 4.0)` */
export function costText(times: readonly ThreadTimes[], unit: string): string {
  const parts = THREADS.map((thread) => ({ thread, micros: median(times.map((one) => one[thread])) }))
    .filter(({ micros }) => micros >= 0.1)
    .map(({ thread, micros }) => `${thread} ${plain(micros)}`);
  return `${plain(median(totals(times)))} µs per ${unit} (${parts.join(", ")})`;
}

/** The cost of one server. */
export function costRow({ costs }: CpuCosts, label: string, unit: string): Row {
  const times = costs.get(label) ?? [];
  const all = totals(times);
  const spread = { spread: `${plain(Math.min(...all))} – ${plain(Math.max(...all))}` };
  return { work: label, figure: costText(times, unit), ...(all.length > 1 && spread) };
}

/** The processor time of one server as a multiple of another's. */
export function factorOf({ costs }: CpuCosts, ours: string, other: string): Interval {
  return interval(ratios(totals(costs.get(ours) ?? []), totals(costs.get(other) ?? [])));
}

/** `2.71× (95 % interval 2.68 – 2.75)` */
export function factorText({ factor, low, high }: Interval): string {
  return `${plain(factor)}× (95 % interval ${plain(low)} – ${plain(high)})`;
}
