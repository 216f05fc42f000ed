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

/** The counters of the server at a time. */
export interface Reading {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly calls: number;
  readonly written: number;
  readonly commits: { readonly sum: number; readonly count: number };
  /** Seconds. */
  readonly delay: number;
}

export function readingOf(metrics: readonly Metric[], at: number): Reading {
  return {
    at,
    calls: totalOf(metrics, "palaver_calls_total"),
    written: totalOf(metrics, "palaver_log_written_bytes_total"),
    commits: totalsOf(metrics, "palaver_commit_duration_seconds"),
    delay: totalOf(metrics, "palaver_event_loop_delay_seconds", { percentile: "99" }),
  };
}

/** Calls and characters a second between two readings; milliseconds of a commit and of the event loop. A restart sets counters to 0. */
export function figuresBetween(before: Reading, now: Reading): Readonly<Record<keyof FigureHistory, number>> {
  const seconds = Math.max(0.001, (now.at - before.at) / 1000);
  const commits = now.commits.count - before.commits.count;
  return {
    calls: Math.max(0, now.calls - before.calls) / seconds,
    written: Math.max(0, now.written - before.written) / seconds,
    commit: commits <= 0 ? 0 : (1000 * (now.commits.sum - before.commits.sum)) / commits,
    delay: 1000 * now.delay,
  };
}

/** Rates between two readings of the metrics. */
export function useHistory(metrics: readonly Metric[] | undefined): FigureHistory {
  const [history, setHistory] = useState(EMPTY);
  const before = useRef<Reading>(undefined);
  useEffect(() => {
    if (metrics === undefined) return;
    const now = readingOf(metrics, Date.now());
    const last = before.current;
    before.current = now;
    if (last === undefined) return;
    const figures = figuresBetween(last, now);
    setHistory((kept) => ({
      calls: added(kept.calls, figures.calls),
      written: added(kept.written, figures.written),
      commit: added(kept.commit, figures.commit),
      delay: added(kept.delay, figures.delay),
    }));
  }, [metrics]);
  return history;
}

function added(values: readonly number[], value: number): readonly number[] {
  return [...values.slice(1 - MOST), value];
}
