import type { LogEntry } from "../../contract.ts";

/** The entries of one row of the log: a JSON array of `[body]` and `[body, note]`. The seq follows from the row. JSON escapes what PostgreSQL cannot store. */
export function logText(entries: readonly LogEntry[]): string {
  return JSON.stringify(entries.map(({ body, note }) => (note === undefined ? [body] : [body, note])));
}

/** The entries of a row whose first entry has the seq `first`. */
export function logEntries(first: number, text: string): readonly LogEntry[] {
  // Safe cast: `logText` wrote it.
  const rows = JSON.parse(text) as readonly (readonly [string, string?])[];
  return rows.map(([body, note], index) => ({ seq: first + index, body, ...(note !== undefined && { note }) }));
}
