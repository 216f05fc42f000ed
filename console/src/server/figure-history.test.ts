import { describe, expect, it } from "vitest";
import type { Metric } from "../data/operator-types.ts";
import { figuresBetween, readingOf } from "./figure-history.ts";

/** The metrics that the charts read; the other members of a metric are not needed. */
function metrics(calls: number, commits: readonly [sum: number, count: number]): readonly Metric[] {
  const all: readonly Pick<Metric, "name" | "values">[] = [
    {
      name: "palaver_calls_total",
      values: [
        { labels: { agent: "one" }, value: calls },
        { labels: { agent: "two" }, value: 2 },
      ],
    },
    { name: "palaver_log_written_bytes_total", values: [{ labels: {}, value: 100 * calls }] },
    { name: "palaver_commit_duration_seconds", values: [{ labels: {}, sum: commits[0], count: commits[1] }] },
    {
      name: "palaver_event_loop_delay_seconds",
      values: [
        { labels: { percentile: "50" }, value: 9 },
        { labels: { percentile: "99" }, value: 0.012 },
      ],
    },
  ];
  return all.map((metric) => ({ help: "", type: "", ...metric }));
}

describe("the figures of the charts", () => {
  const before = readingOf(metrics(10, [1, 100]), 5000);

  it("are rates between two readings, over all agents", () => {
    expect(figuresBetween(before, readingOf(metrics(40, [1.03, 110]), 7000))).toEqual({
      ...{ calls: 15, written: 1500, delay: 12 },
      commit: expect.closeTo(3, 6),
    });
  });

  it("are not negative after a restart, and 0 for commits if there were none", () => {
    const restarted = figuresBetween(before, readingOf(metrics(0, [0, 0]), 7000));
    expect(restarted).toEqual({ calls: 0, written: 0, commit: 0, delay: 12 });
  });
});
