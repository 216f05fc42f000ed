import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { JournalRecord } from "../../contract.ts";

/** Writes the journals of tasks within the open transaction. */
export class JournalWriter {
  readonly #upsert: StatementSync;

  constructor(database: DatabaseSync) {
    this.#upsert = database.prepare(
      "INSERT INTO journal (task, key, body) VALUES (?, ?, ?) ON CONFLICT (task, key) DO UPDATE SET body = excluded.body",
    );
  }

  /** The task's row must have `whole = 0`. */
  add(pk: number, records: readonly JournalRecord[]): void {
    for (const { key, body } of records) this.#upsert.run(pk, key, body);
  }
}
