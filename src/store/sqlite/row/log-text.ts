import type { LogEntry } from "../../contract.ts";

/**
 * Consecutive log entries are stored as one text, one line per entry: `body`, or `body` TAB `note`. Both are JSON without tabs and line
 * breaks. The seq of each line follows from the seq of the first.
 */
export function joinEntries(entries: readonly LogEntry[], last?: LogEntry): string {
  const only = entries[0] ?? last;
  if (only !== undefined && entries.length + (last === undefined ? 0 : 1) === 1) return lineOf(only);
  let text = "";
  for (const entry of entries) text += text === "" ? lineOf(entry) : `\n${lineOf(entry)}`;
  if (last !== undefined) text += `\n${lineOf(last)}`;
  return text;
}

/** Appends the entries of a text with a seq greater than `after` to the list until the byte budget is used up. Returns the rest of the budget. */
export function splitEntries(page: LogPage, first: number, text: string): void {
  let seq = first;
  for (let from = 0; from <= text.length; seq++) {
    const newline = text.indexOf("\n", from);
    const to = newline < 0 ? text.length : newline;
    if (seq > page.after) {
      if (page.isFull(to - from)) return;
      page.add(entryOf(seq, text.slice(from, to)), to - from);
    }
    from = to + 1;
  }
}

/** Collects consecutive entries: at least one, at most about `maxBytes` bytes. */
export class LogPage {
  readonly entries: LogEntry[] = [];
  readonly #maxBytes: number;
  after: number;
  #bytes = 0;
  done = false;

  constructor(after: number, maxBytes: number) {
    this.after = after;
    this.#maxBytes = maxBytes;
  }

  get isNearlyFull(): boolean {
    return this.#bytes > this.#maxBytes * 0.75;
  }

  isFull(more: number): boolean {
    this.done = this.entries.length > 0 && this.#bytes + more > this.#maxBytes;
    return this.done;
  }

  add(entry: LogEntry, bytes: number): void {
    this.entries.push(entry);
    this.after = entry.seq;
    this.#bytes += bytes;
  }
}

function lineOf({ body, note }: LogEntry): string {
  return note === undefined ? body : `${body}\t${note}`;
}

function entryOf(seq: number, line: string): LogEntry {
  const tab = line.indexOf("\t");
  return tab < 0 ? { seq, body: line } : { seq, body: line.slice(0, tab), note: line.slice(tab + 1) };
}
