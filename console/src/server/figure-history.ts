import { useEffect, useRef, useState } from "preact/hooks";
import type { Metric } from "../data/operator-types.ts";
import { totalOf, totalsOf } from "./metric-values.ts";

/** The figures of the charts, oldest first. */
export interface FigureHistory {
  readonly calls: readonly number[];
  readonly written: readonly number[];
  readonly commit: readonly number[];
  readonly delay: readonly number[];
}

const EMPTY: FigureHistory = { calls: [], written: [], commit: [], delay: [] };
/** Two minutes of one reading every two seconds. */
const MOST = 60;

interface Reading {
  readonly at: number;
  readonly calls: number;
  readonly written: number;
  readonly commits: { readonly sum: number; readonly count: number };
}

/** Rates between two readings of the metrics. */
export function useHistory(metrics: readonly Metric[] | undefined): FigureHistory {
  const [history, setHistory] = useState(EMPTY);
  const before = useRef<Reading>(undefined);
  useEffect(() => {
    if (metrics === undefined) return;
    const now: Reading = {
      at: Date.now(),
      calls: totalOf(metrics, "palaver_calls_total"),
      written: totalOf(metrics, "palaver_log_written_bytes_total"),
      commits: totalsOf(metrics, "palaver_commit_duration_seconds"),
    };
    const last = before.current;
    before.current = now;
    if (last === undefined) return;
    const seconds = Math.max(0.001, (now.at - last.at) / 1000);
    const commits = now.commits.count - last.commits.count;
    const delay = 1000 * totalOf(metrics, "palaver_event_loop_delay_seconds", { percentile: "99" });
    setHistory((kept) => ({
      // A restart sets counters to 0.
      calls: added(kept.calls, Math.max(0, now.calls - last.calls) / seconds),
      written: added(kept.written, Math.max(0, now.written - last.written) / seconds),
      commit: added(kept.commit, commits <= 0 ? 0 : (1000 * (now.commits.sum - last.commits.sum)) / commits),
      delay: added(kept.delay, delay),
    }));
  }, [metrics]);
  return history;
}

function added(values: readonly number[], value: number): readonly number[] {
  return [...values.slice(1 - MOST), value];
}
