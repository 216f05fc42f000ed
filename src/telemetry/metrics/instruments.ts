import { type Label, SeriesIndex } from "./series-index.ts";

/** The description of a metric. Names follow the rules of Prometheus: base units, `_total` for counters. */
export interface MetricSpec {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** Default 5000. */
  readonly maxSeries?: number;
}

/** One value of a counter or a gauge. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The distribution of one series of a histogram. */
export interface Distribution {
  readonly labels: Readonly<Record<string, string>>;
  /** For each limit the number of values up to it; the last one counts all. */
  readonly counts: readonly number[];
  readonly sum: number;
}

const NONE: readonly string[] = [];

/** A number that only grows. */
export class Counter {
  readonly #index: SeriesIndex;
  readonly #values: number[] = [];

  constructor({ labels = [], maxSeries }: MetricSpec) {
    this.#index = new SeriesIndex(labels, maxSeries);
    // A counter without labels is shown before its first event, so that its rate is known from the start.
    if (labels.length === 0) this.add(NONE, 0);
  }

  /** `values`: of the labels, in their order. */
  add(values: readonly string[] = NONE, by = 1): void {
    const slot = this.#index.slotOf(values);
    this.#values[slot] = (this.#values[slot] ?? 0) + by;
  }

  samples(): readonly Sample[] {
    return this.#values.map((value, slot) => ({ labels: labelsOf(this.#index, slot), value }));
  }
}

/** Counts values by their size. */
export class Histogram {
  /** The upper limits of the buckets, ascending. */
  readonly limits: readonly number[];
  /** Called with each value, for metrics that are also sent elsewhere. */
  listener: ((value: number, labels: Readonly<Record<string, string>>) => void) | undefined;
  readonly #index: SeriesIndex;
  /** One row per series: the number of values in each bucket, the last for values over all limits. */
  readonly #counts: number[] = [];
  readonly #sums: number[] = [];

  constructor({ labels = [], maxSeries }: MetricSpec, limits: readonly number[]) {
    this.#index = new SeriesIndex(labels, maxSeries);
    this.limits = limits;
    if (labels.length === 0) this.#rowOf(NONE);
  }

  /** `values`: of the labels, in their order. */
  observe(value: number, values: readonly string[] = NONE): void {
    const { limits } = this;
    const slot = this.#rowOf(values);
    let bucket = 0;
    while (bucket < limits.length && value > (limits[bucket] ?? 0)) bucket += 1;
    const at = slot * (limits.length + 1) + bucket;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sums[slot] = (this.#sums[slot] ?? 0) + value;
    this.listener?.(value, labelsOf(this.#index, slot));
  }

  distributions(): readonly Distribution[] {
    const width = this.limits.length + 1;
    return this.#sums.map((sum, slot) => {
      let total = 0;
      const counts = this.#counts.slice(slot * width, (slot + 1) * width).map((count) => {
        total += count;
        return total;
      });
      return { labels: labelsOf(this.#index, slot), counts, sum };
    });
  }

  #rowOf(values: readonly string[]): number {
    const slot = this.#index.slotOf(values);
    if (slot === this.#sums.length) {
      this.#sums.push(0);
      for (let bucket = 0; bucket <= this.limits.length; bucket += 1) this.#counts.push(0);
    }
    return slot;
  }
}

function labelsOf(index: SeriesIndex, slot: number): Readonly<Record<string, string>> {
  const values = index.valuesOf(slot);
  return Object.fromEntries(index.labels.map(({ name }, at) => [name, values[at] ?? ""]));
}
