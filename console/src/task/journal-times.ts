import type { JournalEntry } from "../data/operator-types.ts";
import type { Span } from "./time-scale.ts";

/** An attempt, and how it ended. */
export interface AttemptPart extends Span {
  readonly entry: JournalEntry;
  /** Its process stopped, and another attempt followed. */
  readonly isCrashed: boolean;
}

/** The attempts in order. One without an end crashed if another one followed. */
export function attemptsOf(journal: readonly JournalEntry[], now: number): readonly AttemptPart[] {
  const attempts = journal.filter(({ kind }) => kind === "attempt");
  return attempts.map((entry, index) => {
    const next = attempts[index + 1];
    const isCrashed = entry.end === undefined && next !== undefined;
    const end = entry.end ?? (next === undefined ? now : lastSign(entry, next, journal));
    return { entry, start: entry.start, end, isCrashed };
  });
}

/** The last time at which an attempt that crashed is known to have run. */
function lastSign(entry: JournalEntry, next: JournalEntry, journal: readonly JournalEntry[]): number {
  let last = entry.start;
  for (const { kind, turn, attempt, start, end = start } of journal) {
    if (kind === "attempt" || turn !== entry.turn || attempt !== entry.attempt) continue;
    if (end <= next.start) last = Math.max(last, end);
  }
  return last;
}

/** The end of an entry; of one that goes on, now. What an attempt that crashed has begun ends with it. */
export function endOf(entry: JournalEntry, attempts: readonly AttemptPart[], now: number): number {
  if (entry.end !== undefined) return entry.end;
  const own = attempts.find(
    (part) => part.isCrashed && part.entry.turn === entry.turn && part.entry.attempt === entry.attempt,
  );
  if (entry.kind === "attempt") return attempts.find((part) => part.entry === entry)?.end ?? now;
  return own !== undefined && entry.kind === "step" ? Math.max(entry.start, own.end) : now;
}

/** When somebody worked. Questions and waits are not work: only their ends are. */
export function activeSpans(
  journal: readonly JournalEntry[],
  attempts: readonly AttemptPart[],
  now: number,
): readonly Span[] {
  const waits = journal.filter(({ kind }) => kind === "question" || kind === "wait");
  const work = attempts.flatMap((part) => withoutWaits(part, waits, now));
  const others = journal.flatMap((entry): readonly Span[] => {
    if (entry.kind === "attempt") return [];
    const end = endOf(entry, attempts, now);
    if (entry.kind === "question" || entry.kind === "wait")
      return [
        { start: entry.start, end: entry.start },
        { start: end, end },
      ];
    return [{ start: entry.start, end }];
  });
  return [...work, ...others];
}

/** Milliseconds for which the task worked: its attempts without questions and waits. */
export function workedFor(journal: readonly JournalEntry[], now: number): number {
  const waits = journal.filter(({ kind }) => kind === "question" || kind === "wait");
  const work = attemptsOf(journal, now).flatMap((part) => withoutWaits(part, waits, now));
  return work.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The pieces of an attempt in which it did not wait. */
function withoutWaits({ start, end }: Span, waits: readonly JournalEntry[], now: number): readonly Span[] {
  const pieces: Span[] = [];
  let at = start;
  for (const wait of waits) {
    const waitEnd = wait.end ?? now;
    if (wait.start >= end || waitEnd <= at) continue;
    if (wait.start > at) pieces.push({ start: at, end: wait.start });
    at = Math.max(at, waitEnd);
  }
  if (at < end || pieces.length === 0) pieces.push({ start: Math.min(at, end), end });
  return pieces;
}
