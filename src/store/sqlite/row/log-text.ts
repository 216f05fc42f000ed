import type { LogEntry } from "../../contract.ts";
import { EndingReader, EndingWriter } from "./shared-ending.ts";

/**
 * Consecutive log entries are stored as one text, one line per entry: `body`, or `body` TAB `note`. Both are JSON without tabs, line breaks and
 * control characters. The seq of each line follows from the seq of the first. If there are several lines, bodies with equal endings are shortened
 * ({@link EndingWriter}). Two texts with a line break between them are a text again.
 */
export function joinEntries(entries: readonly LogEntry[]): string {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return "";
  return first === last ? lineOf(first, first.body) : join(entries, EndingWriter.forText(first.body, last.body));
}

/** The same text in two parts, because the store may refuse the end: with a line break between them they are the text of all entries. */
export function joinApart(
  entries: readonly LogEntry[],
  end: LogEntry,
): { readonly lines: string; readonly end: string } {
  const [first] = entries;
  if (first === undefined) return { lines: "", end: lineOf(end, end.body) };
  const endings = EndingWriter.forText(first.body, end.body);
  return { lines: join(entries, endings), end: lineOf(end, endings?.shorten(end.body) ?? end.body) };
}

/** Appends the entries of a text with a seq greater than `after` to the page until its byte budget is used up. */
export function splitEntries(page: LogPage, first: number, text: string): void {
  const endings = EndingReader.isNeededFor(text) ? new EndingReader(text) : undefined;
  let seq = first;
  for (let from = 0; from <= text.length; seq++) {
    const newline = text.indexOf("\n", from);
    const to = newline < 0 ? text.length : newline;
    if (seq > page.after) {
      const stored = entryOf(seq, text.slice(from, to));
      const entry = endings === undefined ? stored : { ...stored, body: endings.restore(stored.body, from) };
      const bytes = to - from + entry.body.length - stored.body.length;
      if (page.isFull(bytes)) return;
      page.add(entry, bytes);
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

function join(entries: readonly LogEntry[], endings: EndingWriter | undefined): string {
  let text = "";
  for (const entry of entries) {
    const line = lineOf(entry, endings === undefined ? entry.body : endings.shorten(entry.body));
    text += text === "" ? line : `\n${line}`;
  }
  return text;
}

function lineOf({ note }: LogEntry, body: string): string {
  return note === undefined ? body : `${body}\t${note}`;
}

function entryOf(seq: number, line: string): LogEntry {
  const tab = line.indexOf("\t");
  return tab < 0 ? { seq, body: line } : { seq, body: line.slice(0, tab), note: line.slice(tab + 1) };
}
