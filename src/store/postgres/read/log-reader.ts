import type { TaskId } from "../../../protocol/ids.ts";
import type { LogEntry } from "../../contract.ts";
import type { Connections } from "../connections.ts";
import { logEntries } from "../row/log-text.ts";
import { storableText } from "../row/text.ts";

/** Rows that one query reads at most. */
const PAGE_ROWS = 1000;

/** Reads logs of tasks. */
export class LogReader {
  readonly #connections: Connections;
  readonly #sql: string;

  constructor(connections: Connections, schema: string) {
    this.#connections = connections;
    // The sum of the bytes before each row ends the page. The server reads no text of the rows behind it.
    this.#sql = `SELECT page.first, log.entries FROM (
        SELECT task, first, last, bytes, sum(bytes) OVER (ORDER BY first) AS through FROM (
          SELECT task, first, last, bytes FROM ${schema}.log WHERE task = $1 AND first >= coalesce(
            (SELECT max(first) FROM ${schema}.log WHERE task = $1 AND first <= $2::bigint + 1), 0)
          ORDER BY first LIMIT ${PAGE_ROWS}) AS rows
        WHERE last > $2::bigint
      ) AS page JOIN ${schema}.log ON log.task = page.task AND log.first = page.first
      WHERE page.through - page.bytes < $3 ORDER BY page.first`;
  }

  /** See `Store.log`. */
  async read(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    const found: LogEntry[] = [];
    let bytes = 0;
    for (let cursor = after; ; ) {
      // A row that contains the cursor also has bytes before it, so one byte more than nothing is always read.
      const left = Math.min(Math.max(1, maxBytes - bytes), Number.MAX_SAFE_INTEGER);
      const rows = await this.#connections.query(this.#sql, [storableText(id), cursor, left]);
      for (const { first, entries } of rows) {
        for (const entry of logEntries(Number(first), String(entries))) {
          if (entry.seq <= cursor) continue;
          bytes += entry.body.length;
          if (found.length > 0 && bytes > maxBytes) return found;
          found.push(entry);
        }
      }
      const last = found.at(-1);
      if (last === undefined || last.seq === cursor || rows.length < PAGE_ROWS) return found;
      cursor = last.seq;
    }
  }
}
