import type { Metric, TaskRow } from "../data/operator-types.ts";

/** What an agent does and did. */
export interface AgentFigures {
  readonly working: number;
  readonly waiting: number;
  /** Answered calls since the server started. */
  readonly calls: number;
  readonly failedCalls: number;
  /** The newest tasks, oldest first, at most 24. */
  readonly recent: readonly TaskRow[];
}

const RECENT = 24;

/** Figures by agent, from the newest tasks and the metrics. */
export function figuresOf(tasks: readonly TaskRow[], metrics: readonly Metric[]): (agent: string) => AgentFigures {
  const calls = metrics.find(({ name }) => name === "palaver_calls_total")?.values ?? [];
  const sum = (agent: string, isFailed: boolean): number =>
    calls
      .filter(({ labels }) => labels["agent"] === agent && (!isFailed || labels["outcome"] !== "ok"))
      .reduce((total, { value = 0 }) => total + value, 0);
  return (agent) => {
    const own = tasks.filter((task) => task.agent === agent);
    return {
      working: own.filter(({ state }) => state === "working" || state === "submitted").length,
      waiting: own.filter(({ state }) => state === "input-required" || state === "auth-required").length,
      calls: sum(agent, false),
      failedCalls: sum(agent, true),
      recent: own.slice(0, RECENT).reverse(),
    };
  };
}

/** The calls of an agent since the server started, and how long they took on average. */
export function callsOf(
  metrics: readonly Metric[],
  agent: string,
): { readonly calls: number; readonly refused: number; readonly milliseconds: number } {
  const of = (name: string): Metric["values"] =>
    (metrics.find((metric) => metric.name === name)?.values ?? []).filter(({ labels }) => labels["agent"] === agent);
  const total = of("palaver_calls_total");
  const sum = (values: Metric["values"]): number => values.reduce((all, { value = 0 }) => all + value, 0);
  const times = of("palaver_call_duration_seconds");
  const count = times.reduce((all, each) => all + (each.count ?? 0), 0);
  const seconds = times.reduce((all, each) => all + (each.sum ?? 0), 0);
  return {
    calls: sum(total),
    refused: sum(total.filter(({ labels }) => labels["outcome"] !== "ok")),
    milliseconds: count === 0 ? 0 : (1000 * seconds) / count,
  };
}
