import { Counter, type Distribution, Histogram, type MetricSpec, type Sample } from "./instruments.ts";

/** A metric with its present values. */
export type Family =
  | { readonly type: "counter" | "gauge"; readonly spec: MetricSpec; readonly samples: readonly Sample[] }
  | {
      readonly type: "histogram";
      readonly spec: MetricSpec;
      readonly limits: readonly number[];
      readonly distributions: readonly Distribution[];
    };

/** A metric of the registry. */
export type Metric =
  | { readonly type: "counter" | "gauge"; readonly spec: MetricSpec; samples(): readonly Sample[] }
  | { readonly type: "histogram"; readonly spec: MetricSpec; readonly histogram: Histogram };

/** All metrics of one server, in the order in which they were added. */
export class Registry {
  readonly #metrics: Metric[] = [];
  readonly #refreshers: Array<() => Promise<void>> = [];

  /** The metrics, for exporters. */
  get metrics(): readonly Metric[] {
    return this.#metrics;
  }

  counter(spec: MetricSpec): Counter {
    const counter = new Counter(spec);
    this.#metrics.push({ type: "counter", spec, samples: () => counter.samples() });
    return counter;
  }

  /** `limits`: the upper limits of the buckets, ascending. */
  histogram(spec: MetricSpec, limits: readonly number[]): Histogram {
    const histogram = new Histogram(spec, limits);
    this.#metrics.push({ type: "histogram", spec, histogram });
    return histogram;
  }

  /** A metric whose values are read when they are asked for. `undefined`: the value is not known, and the metric is left out. */
  observed(type: "counter" | "gauge", spec: MetricSpec, read: () => number | readonly Sample[] | undefined): void {
    const samples = (): readonly Sample[] => {
      const value = read();
      if (value === undefined) return [];
      return typeof value === "number" ? [{ labels: {}, value }] : value;
    };
    this.#metrics.push({ type, spec, samples });
  }

  /** Called before values are read. For values that cannot be read at once; must not reject. */
  onRefresh(refresh: () => Promise<void>): void {
    this.#refreshers.push(refresh);
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#refreshers.map((refresh) => refresh()));
  }

  /** The present values of all metrics that have any. Call `refresh` first. */
  read(): readonly Family[] {
    return this.#metrics.map((metric): Family => {
      if (metric.type !== "histogram") return { type: metric.type, spec: metric.spec, samples: metric.samples() };
      const { histogram, spec } = metric;
      return { type: "histogram", spec, limits: histogram.limits, distributions: histogram.distributions() };
    });
  }
}
