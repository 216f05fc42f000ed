import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { CounterDeltas } from "../counters.ts";
import type { ScopeIds } from "../scope-ids.ts";
import type { ContextWriter } from "./context-writer.ts";
import type { OpenTask } from "./open-task.ts";
import type { OpenTasks } from "./open-tasks.ts";

const CHILD_TABLES = ["message", "segment", "inbox", "step", "webhook", "sent", "journal"] as const;

/** SQL condition on a row of `task`: it has no active webhook. */
export const NO_ACTIVE_WEBHOOK =
  "NOT EXISTS (SELECT 1 FROM webhook WHERE webhook.task = task.pk AND webhook.state = 0)";

export interface TaskDeleterParts {
  readonly counters: CounterDeltas;
  readonly open: OpenTasks;
  readonly scopes: ScopeIds;
  readonly contexts: ContextWriter;
}

/** Deletes finished tasks and all their rows within the open transaction. */
export class TaskDeleter {
  /** Deleted tasks that had rows in the hot log, each with the number of its last row. `Writer.takeGone` empties the list. */
  gone: [string, number][] = [];
  /** How many tasks were deleted since the file was opened, including deletions that were rolled back. */
  deleted = 0;
  readonly #oldest: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteHot: StatementSync;
  readonly #deleteChildren: readonly StatementSync[];
  readonly #counters: CounterDeltas;
  readonly #open: OpenTasks;
  readonly #scopes: ScopeIds;
  readonly #contexts: ContextWriter;

  constructor(database: DatabaseSync, parts: TaskDeleterParts) {
    this.#counters = parts.counters;
    this.#open = parts.open;
    this.#scopes = parts.scopes;
    this.#contexts = parts.contexts;
    // Created only for a store with a retention policy: no other store needs the index.
    database.exec("CREATE INDEX IF NOT EXISTS task_finished ON task (status_at) WHERE ended = 1");
    this.#oldest = database.prepare(
      `SELECT pk, id, scope, context, counted, state, status_at, whole FROM task INDEXED BY task_finished
       WHERE ended = 1 AND status_at < ? AND ${NO_ACTIVE_WEBHOOK} ORDER BY status_at, pk LIMIT ?`,
    );
    this.#delete = database.prepare("DELETE FROM task WHERE pk = ?");
    this.#deleteHot = database.prepare("DELETE FROM log WHERE n = ?");
    this.#deleteChildren = CHILD_TABLES.map((table) => database.prepare(`DELETE FROM ${table} WHERE task = ?`));
  }

  /** Deletes up to `limit` tasks that ended before `before`, oldest first. Returns how many. */
  deleteOldest(before: number, limit: number): number {
    const rows = this.#oldest.all(before, limit);
    for (const row of rows) {
      const pk = Number(row["pk"]);
      const scope = Number(row["scope"]);
      const context = String(row["context"]);
      this.#counters.count(
        {
          scope,
          context,
          counted: row["counted"] === 1,
          state: Number(row["state"]),
          statusAt: Number(row["status_at"]),
        },
        -1,
      );
      const remembered = this.#open.recall(String(row["id"]));
      if (remembered !== undefined) this.#forget(remembered);
      if (row["whole"] === 0) for (const statement of this.#deleteChildren) statement.run(pk);
      this.#delete.run(pk);
      this.#contexts.taskDeleted({ scope, context });
      this.#scopes.mayBeEmpty(scope);
    }
    this.deleted += rows.length;
    return rows.length;
  }

  #forget(task: OpenTask): void {
    const last = task.hot.at(-1);
    for (const { n } of task.hot) this.#deleteHot.run(n);
    if (last !== undefined) this.gone.push([task.id, last.n]);
    task.hot = [];
    this.#open.forget(task);
  }
}
