import type { JournalEntry } from "../engine/record/journal.ts";

/** One entry of the journal, or several of one kind in a row: `count` of them, from the first beginning to the last end. */
export interface JournalBar extends JournalEntry {
  /** Entries that were joined. Absent: one. For a delivery, the notifications that were sent. */
  readonly count?: number;
}

/** Bars of one task. */
export const MAX_BARS = 600;

/**
 * The journal as at most {@link MAX_BARS} bars. First, entries with one name that follow each other are joined; if there are still too many, neighbours of
 * one kind and attempt.
 */
export function journalBars(journal: readonly JournalEntry[]): readonly JournalBar[] {
  if (journal.length <= MAX_BARS) return journal;
  const byName = joined(journal, 0, (one, other) => nameOf(one) === nameOf(other));
  if (byName.length <= MAX_BARS) return byName;
  const attempts = byName.filter(({ kind }) => kind === "attempt");
  const size = Math.ceil(byName.length / Math.max(1, MAX_BARS / 2 - attempts.length));
  const all = joined(byName, size, () => true);
  return all.length <= MAX_BARS ? all : all.slice(-MAX_BARS);
}

/** Joins neighbours of one kind, attempt and outcome, at most `most` of them (0: any number). */
function joined(
  entries: readonly JournalBar[],
  most: number,
  isSame: (one: JournalEntry, other: JournalEntry) => boolean,
): readonly JournalBar[] {
  const bars: JournalBar[] = [];
  const latest = new Map<string, { readonly index: number; size: number }>();
  for (const entry of entries) {
    const group = `${entry.kind} ${entry.turn} ${entry.attempt}`;
    const known = latest.get(group);
    const before = known === undefined ? undefined : bars[known.index];
    const canJoin =
      known !== undefined &&
      before?.end !== undefined &&
      entry.kind !== "attempt" &&
      entry.kind !== "delivery" &&
      before.outcome === entry.outcome &&
      (most === 0 || known.size < most) &&
      isSame(before, entry);
    if (canJoin) {
      known.size += 1;
      bars[known.index] = { ...before, ...endOf(entry), count: (before.count ?? 1) + (entry.count ?? 1) };
    } else {
      latest.set(group, { index: bars.length, size: 1 });
      bars.push(entry);
    }
  }
  return bars;
}

function endOf({ end }: JournalEntry): Pick<JournalEntry, "end"> {
  return end === undefined ? {} : { end };
}

/** `step:look#2` has the name `step:look`. */
function nameOf({ key }: JournalEntry): string {
  return key.replace(/#\d+$/, "");
}
