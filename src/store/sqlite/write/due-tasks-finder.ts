import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { TaskId } from "../../../protocol/ids.ts";

/** Which tasks to look for. */
export interface DueSelection {
  /** Ids of agents. */
  readonly agents: readonly string[];
  readonly living: readonly string[];
}

/** Finds the tasks that need a node. Reads only tasks of the selected agents that no living node holds, however many are held. */
export class DueTasksFinder {
  readonly #holders: StatementSync;
  readonly #due: StatementSync;
  readonly #nextWake: StatementSync;

  constructor(database: DatabaseSync) {
    const isLive = "ended = 0 AND (node IS NOT NULL OR active = 1)";
    // Skips from node to node in the index, whatever number of tasks each has.
    this.#holders = database.prepare(
      `WITH RECURSIVE holder (node) AS (
         SELECT min(node) FROM task INDEXED BY task_live WHERE ${isLive} AND node IS NOT NULL
         UNION ALL
         SELECT (SELECT min(node) FROM task INDEXED BY task_live WHERE ${isLive} AND node > holder.node)
         FROM holder WHERE holder.node IS NOT NULL
       ) SELECT node FROM holder WHERE node IS NOT NULL`,
    );
    const gone = "IN (SELECT value FROM json_each(?1))";
    const served = "agent IN (SELECT id FROM agent WHERE name IN (SELECT value FROM json_each(?2)))";
    const crashed = `SELECT pk FROM task INDEXED BY task_live WHERE ${isLive} AND active = 1 AND ${served}`;
    const overdue = `SELECT pk FROM task INDEXED BY task_asleep WHERE ended = 0 AND wake_at <= ?3 AND ${served}`;
    this.#due = database.prepare(
      `SELECT id FROM task WHERE pk IN (
         ${crashed} AND node IS NULL UNION ${crashed} AND node ${gone}
         UNION ${overdue} AND node IS NULL UNION ${overdue} AND node ${gone}
         UNION SELECT task FROM inbox
       ) AND ended = 0 AND (node IS NULL OR node ${gone}) AND ${served} ORDER BY pk LIMIT ?4`,
    );
    const asleep = `SELECT min(wake_at) AS at FROM task INDEXED BY task_asleep
      WHERE ended = 0 AND wake_at IS NOT NULL AND agent = served.id`;
    this.#nextWake = database.prepare(
      `WITH served (id) AS (SELECT id FROM agent WHERE name IN (SELECT value FROM json_each(?2)))
       SELECT min(at) AS at FROM (
         SELECT (${asleep} AND node IS NULL) AS at FROM served
         UNION ALL SELECT (${asleep} AND node = gone.value) FROM served CROSS JOIN json_each(?1) AS gone)`,
    );
  }

  /** The tasks that are due at this time, oldest first. */
  due(selection: DueSelection, { now, limit }: { readonly now: number; readonly limit: number }): TaskId[] {
    const rows = this.#due.all(this.#gone(selection), JSON.stringify(selection.agents), now, limit);
    return rows.map((row) => String(row["id"]) as TaskId); // Safe cast: written from a TaskId.
  }

  /** The earliest `wakeAt` of the tasks that no living node holds. */
  nextWake(selection: DueSelection): number | undefined {
    const at = this.#nextWake.get(this.#gone(selection), JSON.stringify(selection.agents))?.["at"];
    return typeof at === "number" ? at : undefined;
  }

  /** The nodes that hold leases and are no longer living, as JSON. */
  #gone({ living }: DueSelection): string {
    const holders = this.#holders.all().map((row) => String(row["node"]));
    return JSON.stringify(holders.filter((node) => !living.includes(node)));
  }
}
