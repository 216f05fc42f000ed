import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LogEntry } from "../../contract.ts";
import { inTransaction } from "../connection.ts";
import { LogPage, splitEntries } from "../row/log-text.ts";
import type { HotIndex } from "./hot-index.ts";

/**
 * Reads logs while the writer thread appends and compacts them. All queries of one call share a read transaction. Order: segments, then known
 * rows that are still in the hot log, then rows of the hot log that this thread does not know yet.
 */
export class LogReader {
  readonly #database: DatabaseSync;
  readonly #hot: HotIndex;
  readonly #task: StatementSync;
  readonly #segments: StatementSync;
  readonly #row: StatementSync;
  readonly #newRows: StatementSync;
  readonly #newestSeq: StatementSync;
  readonly #coldSizes: StatementSync;
  readonly #rowSize: StatementSync;
  readonly #newSize: StatementSync;

  constructor(database: DatabaseSync, hot: HotIndex) {
    this.#database = database;
    this.#hot = hot;
    this.#task = database.prepare("SELECT pk, log FROM task WHERE id = ?");
    this.#segments = database.prepare(
      "SELECT first, last, body FROM segment WHERE task = ? AND last > ? ORDER BY last",
    );
    this.#row = database.prepare("SELECT first, last, body FROM log WHERE n = ?");
    this.#newRows = database.prepare("SELECT first, last, body FROM log WHERE n > ? AND task = ? ORDER BY n");
    this.#newestSeq = database.prepare("SELECT max(last) AS last FROM log WHERE n > ? AND task = ?");
    this.#coldSizes = database.prepare(
      `SELECT octet_length(log) AS bytes FROM task WHERE pk = ?1
       UNION ALL SELECT octet_length(body) FROM segment WHERE task = ?1`,
    );
    this.#rowSize = database.prepare("SELECT octet_length(body) AS bytes FROM log WHERE n = ?");
    this.#newSize = database.prepare("SELECT sum(octet_length(body)) AS bytes FROM log WHERE n > ? AND task = ?");
    for (const row of database.prepare("SELECT n, last, id FROM log JOIN task ON pk = task ORDER BY n").iterate()) {
      hot.add(String(row["id"]), Number(row["n"]), Number(row["last"]));
    }
  }

  read(id: string, after: number, maxBytes: number): readonly LogEntry[] {
    return inTransaction(this.#database, () => this.readWithin(id, after, maxBytes));
  }

  /** The same within a transaction. */
  readWithin(id: string, after: number, maxBytes: number): readonly LogEntry[] {
    const page = new LogPage(after, maxBytes);
    this.#fill(page, id);
    return page.entries;
  }

  /** The last seq of a task in the hot log; 0: none. Call it in the transaction that reads the task's row. */
  lastSeq(id: string, pk: number): number {
    const newest = this.#newestSeq.get(this.#hot.newest, pk)?.["last"];
    return Math.max(this.#hot.lastOf(id), typeof newest === "number" ? newest : 0);
  }

  /**
   * Bytes of a task's log, or any number greater than `enough`, because SQLite reads every segment it counts. Call it in the transaction that reads
   * the task's row.
   */
  sizeOf(id: string, pk: number, enough: number): number {
    let bytes = 0;
    for (const row of this.#coldSizes.iterate(pk)) {
      bytes += Number(row["bytes"] ?? 0);
      if (bytes > enough) return bytes;
    }
    for (const n of this.#hot.rowsOf(id)) bytes += Number(this.#rowSize.get(n)?.["bytes"] ?? 0);
    return bytes + Number(this.#newSize.get(this.#hot.newest, pk)?.["bytes"] ?? 0);
  }

  #fill(page: LogPage, id: string): void {
    const task = this.#task.get(id);
    if (task === undefined) return;
    const { pk, log } = task;
    if (typeof log === "string") {
      splitEntries(page, 1, log);
      return;
    }
    if (typeof pk !== "number") return;
    for (const segment of this.#segments.iterate(pk, page.after)) {
      addRow(page, segment);
      // Reading a few entries of the next segment costs as much as reading all of them.
      if (page.done || page.isNearlyFull) return;
    }
    for (const n of this.#hot.rowsOf(id)) {
      const row = this.#row.get(n);
      if (row !== undefined) addRow(page, row);
      if (page.done) return;
    }
    for (const row of this.#newRows.all(this.#hot.newest, pk)) {
      addRow(page, row);
      if (page.done) return;
    }
  }
}

function addRow(page: LogPage, row: Record<string, unknown>): void {
  if (Number(row["last"]) > page.after) splitEntries(page, Number(row["first"]), String(row["body"]));
}
