import type { JournalEntry, TaskAnswer, WireMessage } from "../data/operator-types.ts";
import type { LogRow } from "../data/task-types.ts";
import { clock, count, duration, shortId } from "../text/format.ts";
import { type AttemptPart, attemptsOf, endOf } from "./journal-times.ts";
import type { SeqTimes } from "./seq-times.ts";

/** One line of the list of what happened. `at`: milliseconds since 1970. */
export type Happening =
  | {
      readonly kind: "chapter";
      readonly key: string;
      readonly at: number;
      readonly title: string;
      readonly note: string;
    }
  | { readonly kind: "crash"; readonly key: string; readonly at: number; readonly text: string }
  | { readonly kind: "row"; readonly key: string; readonly at: number; readonly row: LogRow }
  | {
      readonly kind: "message";
      readonly key: string;
      readonly at: number;
      readonly after: number;
      readonly message: WireMessage;
    }
  | {
      readonly kind: "wait";
      readonly key: string;
      readonly at: number;
      readonly text: string;
      readonly isOpen: boolean;
      /** Of a sleep that has ended, in milliseconds. */
      readonly slept?: number;
    }
  | {
      readonly kind: "entry";
      readonly key: string;
      readonly at: number;
      readonly entry: JournalEntry;
      readonly ms: number;
    };

export interface HappeningsInput {
  readonly rows: readonly LogRow[];
  readonly journal: readonly JournalEntry[];
  readonly history: TaskAnswer["history"];
  readonly times: SeqTimes;
  readonly now: number;
}

/** The events of the log in their order, and between them what the journal says, by time. */
export function happeningsOf({ rows, journal, history, times, now }: HappeningsInput): readonly Happening[] {
  const logged = loggedItems(rows, history, times);
  const others = journalItems(journal, now).toSorted((a, b) => a.at - b.at);
  const all: Happening[] = [];
  let next = 0;
  for (const item of logged) {
    for (;;) {
      const other = others[next];
      if (other === undefined || other.at > item.at) break;
      all.push(other);
      next += 1;
    }
    all.push(item);
  }
  return withoutRepeatedSleeps([...all, ...others.slice(next)]);
}

/** Sleeps that follow each other are one line. */
function withoutRepeatedSleeps(items: readonly Happening[]): readonly Happening[] {
  const all: Happening[] = [];
  let times = 1;
  for (const item of items) {
    const last = all.at(-1);
    if (item.kind === "wait" && last?.kind === "wait" && item.slept !== undefined && last.slept !== undefined) {
      times += 1;
      const slept = last.slept + item.slept;
      all[all.length - 1] = { ...last, slept, text: `Slept ${count(times)} times, ${duration(slept)} together` };
    } else {
      times = 1;
      all.push(item);
    }
  }
  return all;
}

/** Times of chunks are estimated; the order of events is not. */
function loggedItems(rows: readonly LogRow[], history: TaskAnswer["history"], times: SeqTimes): readonly Happening[] {
  const items: Happening[] = [];
  // The first message is the title of the page.
  const messages = history.filter(({ after, message }) => after > 0 && message.role === "ROLE_USER");
  let latest = 0;
  let next = 0;
  const addMessages = (upTo: number): void => {
    for (let found = messages[next]; found !== undefined && found.after < upTo; found = messages[next]) {
      const { after, message } = found;
      const at = Math.max(latest, times.timeOf(after));
      items.push({ kind: "message", key: `message ${message.messageId ?? next}`, at, after, message });
      next += 1;
    }
  };
  for (const row of rows) {
    addMessages(row.first);
    latest = Math.max(latest, row.at ?? times.timeOf(row.first));
    items.push({ kind: "row", key: `row ${row.first}`, at: latest, row });
  }
  addMessages(Number.POSITIVE_INFINITY);
  return items;
}

function journalItems(journal: readonly JournalEntry[], now: number): readonly Happening[] {
  const attempts = attemptsOf(journal, now);
  const chapters = attempts.flatMap((part, index) => chapterItems(part, attempts[index - 1], attempts.length));
  const entries = journal.flatMap((entry, index): readonly Happening[] => {
    const key = `entry ${index} ${entry.kind} ${entry.key}`;
    if (entry.kind === "attempt") return [];
    const ms = endOf(entry, attempts, now) - entry.start;
    if (entry.kind === "question" || entry.kind === "wait") return waitItem(entry, { key, ms });
    return [{ kind: "entry", key, at: entry.start, entry, ms }];
  });
  return [...chapters, ...entries];
}

/** The beginning of an attempt, after the sentence about the crash before it. */
function chapterItems(part: AttemptPart, before: AttemptPart | undefined, attempts: number): readonly Happening[] {
  const { entry, start, end } = part;
  const at = start;
  const key = `attempt ${entry.turn} ${entry.key}`;
  const node = entry.node === "" ? "" : `${shortId(entry.node)}, `;
  const chapter: Happening = {
    ...{ kind: "chapter", key, at },
    title: attempts === 1 ? "Attempt 1" : `Attempt ${entry.key}${(entry.turn ?? 1) > 1 ? `, turn ${entry.turn}` : ""}`,
    note: `${node}${clock(start)}, ${duration(end - start)}`,
  };
  if (before?.isCrashed !== true) return [chapter];
  const [dead, next] = [shortId(before.entry.node), shortId(entry.node)];
  const who = dead === next ? "The same process began again" : `${next} took over`;
  const text = `${dead} stopped. ${who} after ${duration(start - before.end)}.`;
  return [{ kind: "crash", key: `crash ${key}`, at, text }, chapter];
}

/** Milliseconds above which a wait is a line of its own. */
const LONG = 1000;

function waitItem(
  entry: JournalEntry,
  { key, ms }: { readonly key: string; readonly ms: number },
): readonly Happening[] {
  const isOpen = entry.end === undefined;
  if (ms < LONG && !isOpen) return [];
  const what = entry.kind === "question" ? "for the answer" : "";
  const text = isOpen
    ? `${entry.kind === "question" ? "Waits for the answer" : "Sleeps"}, for ${duration(ms)}`
    : `${entry.kind === "question" ? "Waited" : "Slept"} ${duration(ms)} ${what}`.trim();
  const hasSlept = !isOpen && entry.kind === "wait";
  return [{ kind: "wait", key, at: entry.start + 0.5, text, isOpen, ...(hasSlept && { slept: ms }) }];
}

/** States, questions, crashes, failures, agents called, answers. */
export function isImportant(item: Happening): boolean {
  if (item.kind === "row") return item.row.kind === "status";
  if (item.kind === "entry")
    return item.entry.kind === "child" || !["completed", "delivered", undefined].includes(item.entry.outcome);
  return true;
}

/** The last event that an item shows; `undefined` for what is not in the log. */
export function seqOf(item: Happening): number | undefined {
  return item.kind === "row" ? item.row.last : item.kind === "message" ? item.after : undefined;
}
