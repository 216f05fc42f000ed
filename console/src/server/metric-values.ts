import type { Metric } from "../data/operator-types.ts";

/** The sum of all values of a metric; 0 if it does not exist. */
export function totalOf(
  metrics: readonly Metric[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const values = metrics.find((metric) => metric.name === name)?.values ?? [];
  return values
    .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
    .reduce((sum, { value = 0 }) => sum + value, 0);
}

/** The sum and the count of a histogram. */
export function totalsOf(metrics: readonly Metric[], name: string): { readonly sum: number; readonly count: number } {
  const values = metrics.find((metric) => metric.name === name)?.values ?? [];
  return values.reduce(
    (total, each) => ({ sum: total.sum + (each.sum ?? 0), count: total.count + (each.count ?? 0) }),
    { sum: 0, count: 0 },
  );
}

/** The average of a histogram; 0 without values. */
export function average(metrics: readonly Metric[], name: string): number {
  const { sum, count } = totalsOf(metrics, name);
  return count === 0 ? 0 : sum / count;
}
