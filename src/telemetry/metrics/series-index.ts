/** A label and all its values. */
export interface Label {
  readonly name: string;
  readonly values: readonly string[];
}

/** Replaces a label value that is not in the list of its label. */
export const OTHER = "other";

/** The most series of one metric. */
const MAX_SERIES = 5000;

/**
 * Numbers the combinations of label values of one metric, from 0 in the order of their first use. Callers cannot create labels: a value that is not
 * listed counts as {@link OTHER}, and after `maxSeries` combinations every new one counts as the combination of `other` alone.
 */
export class SeriesIndex {
  readonly labels: readonly Label[];
  readonly #positions: readonly ReadonlyMap<string, number>[];
  readonly #slots = new Map<number, number>();
  /** The label values of each series. */
  readonly #values: string[][] = [];
  readonly #maxSeries: number;

  constructor(labels: readonly Label[], maxSeries: number = MAX_SERIES) {
    this.labels = labels;
    this.#maxSeries = maxSeries;
    this.#positions = labels.map(({ values }) => new Map(values.map((value, index) => [value, index])));
  }

  get size(): number {
    return this.#values.length;
  }

  /** The label values of a series, in the order of the labels. */
  valuesOf(slot: number): readonly string[] {
    return this.#values[slot] ?? [];
  }

  /** The number of the series with these label values, in the order of the labels. */
  slotOf(values: readonly string[]): number {
    let key = 0;
    for (let index = 0; index < this.#positions.length; index += 1) {
      const known = this.#positions[index];
      const value = values[index];
      const position = value === undefined ? undefined : known?.get(value);
      key = key * ((known?.size ?? 0) + 1) + (position ?? known?.size ?? 0);
    }
    return this.#slots.get(key) ?? this.#add(key, values);
  }

  #add(key: number, values: readonly string[]): number {
    if (this.labels.length > 0 && this.size >= this.#maxSeries - 1) {
      const others = this.labels.map(() => OTHER);
      const isOverflow = values.every((value) => value === OTHER);
      if (!isOverflow) return this.slotOf(others);
    }
    const slot = this.size;
    this.#values.push(
      this.labels.map(({ values: known }, index) => {
        const value = values[index];
        return value !== undefined && known.includes(value) ? value : OTHER;
      }),
    );
    this.#slots.set(key, slot);
    return slot;
  }
}
