import type { Discrepancy } from "./discrepancy.ts";

export interface Stories {
  readonly task: string;
  readonly who: string;
  readonly expected: readonly string[];
  readonly seen: readonly string[];
  /** The received events may end before the log does. */
  readonly isPartial?: boolean;
}

/** Lines of context before and after the first difference. */
const BEFORE = 3;
const AFTER = 5;

/** Compares the received events with the log: none may be lost, repeated, changed or out of order. */
export function compareStories({ task, who, expected: all, seen, isPartial = false }: Stories): Discrepancy[] {
  const expected = isPartial ? beginningOf(all, seen) : all;
  const first = firstDifference(expected, seen);
  if (first === undefined) return [];
  const missing = without(expected, seen);
  const extra = without(seen, expected);
  const known = new Set(expected);
  const repeated = extra.filter((line) => known.has(line));
  const changed = extra.filter((line) => !known.has(line));
  const excerpt = { expected: around(expected, first), seen: around(seen, first) };
  const found: Discrepancy[] = [];
  const add = (kind: Discrepancy["kind"], lines: readonly string[], verb: string): void => {
    const what = `${lines.length} of ${expected.length} events ${verb}, first ${lines[0] ?? ""}`;
    if (lines.length > 0) found.push({ kind, task, who, what, ...excerpt });
  };
  add("lost", missing, "lost");
  add("repeated", repeated, "repeated");
  add("changed", changed, "not in the log");
  const isOrdered = firstDifference(without(expected, missing), without(seen, extra)) === undefined;
  if (!isOrdered || found.length === 0) {
    found.push({ kind: "out-of-order", task, who, what: `out of order from event ${first + 1} on`, ...excerpt });
  }
  return found;
}

/** The log up to the last received event. */
function beginningOf(all: readonly string[], seen: readonly string[]): readonly string[] {
  const asMany = all.slice(0, seen.length);
  if (firstDifference(asMany, seen) === undefined) return asMany;
  const last = all.lastIndexOf(seen.at(-1) ?? "");
  return last === -1 ? asMany : all.slice(0, last + 1);
}

function firstDifference(expected: readonly string[], seen: readonly string[]): number | undefined {
  const length = Math.max(expected.length, seen.length);
  for (let index = 0; index < length; index++) if (expected[index] !== seen[index]) return index;
  return undefined;
}

/** The lines of one list minus those of another, counting duplicates; removes later duplicates first. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}

function around(lines: readonly string[], index: number): string[] {
  const from = Math.max(0, index - BEFORE);
  return lines.slice(from, index + AFTER).map((line, offset) => `${from + offset + 1}  ${line}`);
}
