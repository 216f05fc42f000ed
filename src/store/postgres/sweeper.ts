import type { TaskId } from "../../protocol/ids.ts";
import { artifactsOfLog } from "../artifacts-of-log.ts";
import type { Retention } from "../contract.ts";
import type { Connections } from "./connections.ts";
import type { LogReader } from "./read/log-reader.ts";
import type { TaskCount } from "./task-count.ts";

export interface SweeperParts {
  readonly connections: Connections;
  readonly schema: string;
  readonly retention: Retention;
  readonly logs: LogReader;
  readonly count: TaskCount;
}

/** Maximum number of tasks that one sweep changes, so that commits wait for it only briefly. */
const SWEEP_TASKS = 500;
/** Logs that one sweep drops: each may have to be read. */
const SWEEP_LOGS = 50;

/** Deletes what the retention no longer keeps. Several nodes may sweep at the same time. */
export class Sweeper {
  readonly #parts: SweeperParts;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  /** One batch: see `Store.sweep`. `clock`: the time for tests, or null. */
  async sweep(clock: number | null): Promise<number> {
    const { connections, schema, retention, count } = this.#parts;
    if (retention.maxTasks !== undefined) await count.refresh();
    const room = await count.room();
    const excess = room === undefined ? 0 : Math.max(0, -room);
    const [row] = await connections.query(
      `SELECT ${schema}.sweep_1($1, $2, $3, $4) AS deleted`,
      [retention.maxAge ?? null, excess, SWEEP_TASKS, clock],
      "anything",
    );
    const deleted = Number(row?.["deleted"]);
    count.changed(-deleted);
    return deleted > 0 ? deleted : this.#dropLogs(clock);
  }

  async #dropLogs(clock: number | null): Promise<number> {
    const { connections, schema, retention } = this.#parts;
    if (retention.logAge === undefined) return 0;
    const rows = await connections.query(
      `SELECT id, EXISTS (SELECT FROM ${schema}.artifacts WHERE artifacts.task = task.id) AS folded FROM ${schema}.task
       WHERE ended AND first_seq <= seq AND status_at < ${schema}.now_1($1) - $2
         AND NOT EXISTS (SELECT FROM ${schema}.webhook WHERE webhook.task = task.id AND webhook.state = 'active')
       ORDER BY status_at, id LIMIT $3`,
      [clock, retention.logAge, SWEEP_LOGS],
    );
    if (rows.length === 0) return 0;
    const folded: (string | null)[] = [];
    for (const { id, folded: isFolded } of rows) {
      // A finished task never changes, so its log may be read before the transaction that drops it.
      const log =
        isFolded === true ? undefined : await this.#parts.logs.read(id as TaskId, 0, Number.POSITIVE_INFINITY);
      folded.push(log === undefined ? null : artifactsOfLog(log));
    }
    const ids = rows.map(({ id }) => id);
    const values = [ids, folded];
    const [row] = await connections.query(`SELECT ${schema}.drop_logs_1($1, $2) AS dropped`, values, "anything");
    return Number(row?.["dropped"]);
  }
}
