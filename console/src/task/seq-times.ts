import type { KnownTime } from "../data/task-types.ts";
import type { Span } from "./time-scale.ts";

export interface SeqTimesInput {
  /** Events whose times are known. */
  readonly known: readonly KnownTime[];
  /** When the task was created. */
  readonly start: number;
  /** The last event, and when it was at the latest. */
  readonly end: KnownTime;
  /** When the task ran, in order: nothing was written between. Empty: not known. */
  readonly active?: readonly Span[];
}

/** Which event belongs to which time. Only states have times; the events between two of them are taken to be evenly spread while the task ran. */
export class SeqTimes {
  readonly #known: readonly KnownTime[];
  readonly #active: readonly Span[];

  constructor({ known, start, end, active = [] }: SeqTimesInput) {
    const all: KnownTime[] = [{ seq: 0, at: start }];
    for (const each of [...known, end]) {
      const last = all.at(-1);
      // Clocks may go back; the picture does not.
      if (last === undefined || each.seq > last.seq) all.push({ seq: each.seq, at: Math.max(each.at, last?.at ?? 0) });
    }
    this.#known = all;
    this.#active = active;
  }

  /** When an event happened. */
  timeOf(seq: number): number {
    const [before, after] = this.#around(seq, "seq");
    if (after === undefined || seq <= before.seq) return before.at;
    const share = (seq - before.seq) / (after.seq - before.seq);
    const pieces = this.#activeBetween(before.at, after.at);
    let left = share * lengthOf(pieces);
    for (const { start, end } of pieces) {
      if (left <= end - start) return start + left;
      left -= end - start;
    }
    return after.at;
  }

  /** The last event that had happened at a time. */
  seqAt(time: number): number {
    const [before, after] = this.#around(time, "at");
    if (after === undefined || time <= before.at) return before.seq;
    const pieces = this.#activeBetween(before.at, after.at);
    const past = pieces.map(({ start, end }) => ({ start, end: Math.min(end, Math.max(start, time)) }));
    const share = lengthOf(past) / Math.max(1e-9, lengthOf(pieces));
    return Math.floor(before.seq + share * (after.seq - before.seq) + 1e-6);
  }

  /** The last known time not after a value, and the next one. */
  #around(value: number, by: keyof KnownTime): readonly [KnownTime, KnownTime | undefined] {
    const known = this.#known;
    let [low, high] = [0, known.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((known[middle]?.[by] ?? 0) <= value) low = middle;
      else high = middle - 1;
    }
    return [known[low] ?? { seq: 0, at: 0 }, known[low + 1]];
  }

  /** When the task ran between two times; the whole time if it did not. */
  #activeBetween(from: number, to: number): readonly Span[] {
    const pieces = this.#active
      .map(({ start, end }) => ({ start: Math.max(from, start), end: Math.min(to, end) }))
      .filter(({ start, end }) => end > start);
    return pieces.length === 0 ? [{ start: from, end: to }] : pieces;
  }
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}
