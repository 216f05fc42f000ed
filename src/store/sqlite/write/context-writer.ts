import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ContextWrite, Outcome } from "../../contract.ts";
import { CONFLICT, FULL } from "../../outcomes.ts";

/** Identifies a context in the file. */
export interface ContextKey {
  readonly scope: number;
  readonly context: string;
}

/** Writes and deletes the values of contexts within the open transaction. */
export class ContextWriter {
  readonly #any: StatementSync;
  readonly #version: StatementSync;
  readonly #otherBytes: StatementSync;
  readonly #change: StatementSync;
  readonly #set: StatementSync;
  readonly #delete: StatementSync;
  readonly #hasTask: StatementSync;
  readonly #drops: readonly StatementSync[];
  /** The file has values, or had some since it was opened. If not, a deleted task needs no query. */
  #isUsed = true;

  constructor(database: DatabaseSync) {
    const inContext = "scope = ? AND context = ?";
    this.#any = database.prepare("SELECT 1 FROM context LIMIT 1");
    this.#version = database.prepare(`SELECT version FROM context_value WHERE ${inContext} AND key = ?`);
    this.#otherBytes = database.prepare(
      `SELECT coalesce(sum(octet_length(key) + octet_length(value)), 0) AS bytes FROM context_value WHERE ${inContext} AND key <> ?`,
    );
    this.#change = database.prepare(
      `INSERT INTO context (scope, context, changes) VALUES (?, ?, 1)
       ON CONFLICT DO UPDATE SET changes = changes + 1 RETURNING changes`,
    );
    this.#set = database.prepare(
      "INSERT OR REPLACE INTO context_value (scope, context, key, version, value) VALUES (?, ?, ?, ?, ?)",
    );
    this.#delete = database.prepare(`DELETE FROM context_value WHERE ${inContext} AND key = ?`);
    // Other tasks of the deleted task's context are counted: a caller named it.
    this.#hasTask = database.prepare(
      `SELECT 1 FROM task INDEXED BY task_by_context WHERE ${inContext} AND counted < 2 LIMIT 1`,
    );
    this.#drops = ["context", "context_value"].map((table) =>
      database.prepare(`DELETE FROM ${table} WHERE ${inContext}`),
    );
  }

  reset(): void {
    this.#isUsed = this.#any.get() !== undefined;
  }

  /** The caller has checked the lease of the task. */
  write({ scope, context }: ContextKey, { key, value, expected, maxBytes }: ContextWrite): Outcome {
    if (expected !== undefined && expected !== Number(this.#version.get(scope, context, key)?.["version"] ?? 0))
      return CONFLICT;
    if (value !== undefined) {
      const others = Number(this.#otherBytes.get(scope, context, key)?.["bytes"]);
      if (others + Buffer.byteLength(key) + Buffer.byteLength(value) > maxBytes) return FULL;
    }
    const version = Number(this.#change.get(scope, context)?.["changes"]);
    if (value === undefined) this.#delete.run(scope, context, key);
    else this.#set.run(scope, context, key, version, value);
    this.#isUsed = true;
    return { status: "ok", version };
  }

  /** A task of the context was deleted: deletes the values if it was the last one. */
  taskDeleted({ scope, context }: ContextKey): void {
    if (!this.#isUsed || this.#hasTask.get(scope, context) !== undefined) return;
    for (const statement of this.#drops) statement.run(scope, context);
  }
}
