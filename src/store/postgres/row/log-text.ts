import type { LogEntry } from "../../contract.ts";

/** The entries of one row of the log: a JSON array of `[body]` and `[body, note]`. The seq follows from the row. JSON escapes what PostgreSQL cannot store. */
export function logText(entries: readonly LogEntry[]): string {
  return JSON.stringify(entries.map(({ body, note }) => (note === undefined ? [body] : [body, note])));
}

/** The entries of a row whose first entry has the seq `first`. */
export function logEntries(first: number, text: string): readonly LogEntry[] {
  // Safe cast: `logText` wrote it.
  return entriesFrom(first, JSON.parse(text) as readonly (readonly [string, string?])[]);
}

/** The entries of successive rows, with commas between them, whose first entry has the seq `first`: a log has no gaps. */
export function joinedLogEntries(first: number, text: string): readonly LogEntry[] {
  // Safe cast: `logText` wrote each row.
  const rows = JSON.parse(`[${text}]`) as readonly (readonly (readonly [string, string?])[])[];
  return entriesFrom(first, rows.flat());
}

function entriesFrom(first: number, rows: readonly (readonly [string, string?])[]): readonly LogEntry[] {
  return rows.map(([body, note], index) => ({ seq: first + index, body, ...(note !== undefined && { note }) }));
}
