import type { JournalEntry } from "../data/operator-types.ts";
import { positionOf, type ScalePiece } from "./time-scale.ts";

/** A bar: one entry, or several neighbours that are too narrow to be shown one by one. */
export interface BarPiece {
  readonly entry: JournalEntry;
  /** Shares of the picture, from 0 to 1. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds since 1970. */
  readonly end: number;
  readonly count: number;
  /** The row of its lane, from 0: bars of the same time are below each other. */
  readonly row: number;
}

/** Bars narrower than this share of the picture merge with their neighbours. */
const NARROW = 0.006;
/** Rows of a lane; what has no place below covers the last row. */
const MAX_ROWS = 6;

export interface Picture {
  readonly journal: readonly JournalEntry[];
  readonly pieces: readonly ScalePiece[];
  readonly end: (entry: JournalEntry) => number;
}

/** The bars of all entries of one kind. */
export function barsOf(kind: JournalEntry["kind"], { journal, pieces, end: endOfEntry }: Picture): readonly BarPiece[] {
  const bars: BarPiece[] = [];
  /** The index in `bars` of the last bar of each row. */
  const lasts: number[] = [];
  const entries = journal.filter((entry) => entry.kind === kind);
  for (const entry of entries.toSorted((one, other) => one.start - other.start)) {
    const end = endOfEntry(entry);
    const count = kind === "delivery" ? 1 : (entry.count ?? 1);
    const [from, to] = [positionOf(pieces, entry.start), positionOf(pieces, end)];
    const free = lasts.findIndex((index) => (bars[index]?.to ?? 0) <= from);
    const row = free !== -1 ? free : Math.min(lasts.length, MAX_ROWS - 1);
    const near = lasts.find((index) => isMerged(bars[index], { from, to }));
    const last = near === undefined ? undefined : bars[near];
    if (near !== undefined && last !== undefined)
      bars[near] = { ...last, to: Math.max(last.to, to), end: Math.max(last.end, end), count: last.count + count };
    else {
      lasts[row] = bars.length;
      bars.push({ entry, from, to, end, count, row });
    }
  }
  return bars;
}

/** Whether a bar is so narrow, and so near to the last one of a row of narrow bars, that both are one. */
function isMerged(last: BarPiece | undefined, { from, to }: Pick<BarPiece, "from" | "to">): boolean {
  if (last === undefined || to - from >= NARROW || from - last.to >= NARROW / 2) return false;
  return last.count > 1 || last.to - last.from < NARROW;
}

/** How many rows the bars of a lane need. */
export function rowCount(bars: readonly BarPiece[]): number {
  return bars.reduce((most, { row }) => Math.max(most, row + 1), 1);
}
