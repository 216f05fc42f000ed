import type { KnownTime } from "../data/task-types.ts";

/** Which event belongs to which time. Only states have times; the events between two of them are taken to be evenly spread. */
export class SeqTimes {
  readonly #known: readonly KnownTime[];

  /** `start`: when the task was created. `end`: the last event, and when it was at the latest. */
  constructor(known: readonly KnownTime[], start: number, end: KnownTime) {
    const all: KnownTime[] = [{ seq: 0, at: start }];
    for (const each of [...known, end]) {
      const last = all.at(-1);
      // Clocks may go back; the picture does not.
      if (last === undefined || each.seq > last.seq) all.push({ seq: each.seq, at: Math.max(each.at, last?.at ?? 0) });
    }
    this.#known = all;
  }

  /** When an event happened. */
  timeOf(seq: number): number {
    return this.#between(seq, "seq", "at");
  }

  /** The last event that had happened at a time. */
  seqAt(time: number): number {
    return Math.floor(this.#between(time, "at", "seq") + 1e-6);
  }

  /** Linear between the two known values around it. */
  #between(value: number, from: keyof KnownTime, to: keyof KnownTime): number {
    const known = this.#known;
    let [low, high] = [0, known.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((known[middle]?.[from] ?? 0) <= value) low = middle;
      else high = middle - 1;
    }
    const [before, after] = [known[low], known[low + 1]];
    if (before === undefined) return 0;
    if (after === undefined || value <= before[from]) return before[to];
    return before[to] + ((value - before[from]) / (after[from] - before[from])) * (after[to] - before[to]);
  }
}
