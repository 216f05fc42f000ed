import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Retention } from "../../contract.ts";
import type { LogFolder } from "./log-folder.ts";
import { NO_ACTIVE_WEBHOOK, type TaskDeleter } from "./task-deleter.ts";

const DEFAULT_PRUNE_COUNT = 100;
/** Limits of one sweep, so that commits wait for it only briefly: tasks changed, and bytes of logs folded. */
const SWEEP_TASKS = 500;
const SWEEP_BYTES = 32_000_000;
/** The artifacts of a larger log stay in the log: as one text they could not be read in pieces. */
const MAX_RESULT_BYTES = 4_000_000;

/** Value of `first_seq`: the whole log is stored and never dropped, because the artifacts are computed from it. */
export const LOG_STAYS = 0;

/** Applies the retention policy within the open transaction. */
export class Retainer {
  readonly #retention: Retention;
  readonly #deleter: TaskDeleter | undefined;
  readonly #folder: LogFolder;
  readonly #total: StatementSync;
  readonly #oldLogs: StatementSync | undefined;
  readonly #dropLog: StatementSync;
  readonly #dropSegments: StatementSync;
  readonly #dropJournal: StatementSync;
  readonly #keepLog: StatementSync;
  /** Number of tasks in the file; only maintained if `maxTasks` is set. */
  #count = 0;
  /** No task can be deleted until a task ends or a webhook finishes. Cached, because the search may take long. */
  #isStuck = false;

  constructor(
    database: DatabaseSync,
    parts: { readonly retention: Retention; readonly deleter: TaskDeleter | undefined; readonly folder: LogFolder },
  ) {
    this.#retention = parts.retention;
    this.#deleter = parts.deleter;
    this.#folder = parts.folder;
    this.#total = database.prepare("SELECT count(*) AS n FROM task");
    this.#dropLog = database.prepare(
      "UPDATE task SET log = NULL, first_seq = seq + 1, artifacts = coalesce(artifacts, ?) WHERE pk = ?",
    );
    this.#keepLog = database.prepare(`UPDATE task SET first_seq = ${LOG_STAYS} WHERE pk = ?`);
    this.#dropSegments = database.prepare("DELETE FROM segment WHERE task = ?");
    this.#dropJournal = database.prepare("DELETE FROM journal WHERE task = ?");
    if (parts.retention.logAge === undefined) return;
    database.exec("CREATE INDEX IF NOT EXISTS task_logged ON task (status_at) WHERE ended = 1 AND first_seq = 1");
    this.#oldLogs = database.prepare(
      `SELECT pk, artifacts IS NULL AS unfolded FROM task INDEXED BY task_logged
       WHERE ended = 1 AND first_seq = 1 AND status_at < ? AND ${NO_ACTIVE_WEBHOOK} ORDER BY status_at LIMIT ?`,
    );
  }

  reset(): void {
    this.#isStuck = false;
    if (this.#retention.maxTasks !== undefined) this.#count = Number(this.#total.get()?.["n"]);
  }

  created(): void {
    this.#count += 1;
    this.#isStuck = false;
  }

  /** Call this when a task ends, or the last active webhook of an ended task finishes: a task may be deletable again. */
  taskMayBeDeleted(): void {
    this.#isStuck = false;
  }

  isFull(): boolean {
    return this.#retention.maxTasks !== undefined && this.#count >= this.#retention.maxTasks;
  }

  /** Deletes the `pruneCount` oldest finished tasks; false if none can be deleted. */
  makeRoom(): boolean {
    if (this.#isStuck) return false;
    const { pruneCount = DEFAULT_PRUNE_COUNT } = this.#retention;
    this.#isStuck = this.#deleteOldest(Number.MAX_SAFE_INTEGER, pruneCount) === 0;
    return !this.#isStuck;
  }

  /**
   * Deletes tasks and drops logs that are due, at most 500 of both together. Expects that no finished task has rows left in the hot log.
   * Returns how many tasks it changed; 0: nothing more is due.
   */
  sweep(now: number): number {
    const { maxTasks, maxAge, logAge } = this.#retention;
    const excess = maxTasks === undefined ? 0 : Math.min(this.#count - maxTasks, SWEEP_TASKS);
    let changed = excess > 0 ? this.#deleteOldest(Number.MAX_SAFE_INTEGER, excess) : 0;
    if (maxAge !== undefined && changed < SWEEP_TASKS)
      changed += this.#deleteOldest(now - maxAge, SWEEP_TASKS - changed);
    if (logAge !== undefined && changed < SWEEP_TASKS) changed += this.#dropLogs(now - logAge, SWEEP_TASKS - changed);
    return changed;
  }

  #deleteOldest(before: number, limit: number): number {
    const deleted = this.#deleter?.deleteOldest(before, limit) ?? 0;
    this.#count -= deleted;
    return deleted;
  }

  /** Drops the logs of up to `limit` tasks that ended before `before`. Returns how many tasks it changed. */
  #dropLogs(before: number, limit: number): number {
    let bytes = 0;
    let changed = 0;
    for (const row of this.#oldLogs?.all(before, limit) ?? []) {
      const pk = Number(row["pk"]);
      changed += 1;
      let artifacts: string | undefined;
      if (row["unfolded"] === 1) {
        // Store the artifacts before their events are deleted.
        const size = this.#folder.sizeOf(pk);
        bytes += size;
        artifacts = size > MAX_RESULT_BYTES ? undefined : this.#folder.fold(pk);
        if (artifacts === undefined) {
          this.#keepLog.run(pk);
          continue;
        }
      }
      this.#dropLog.run(artifacts ?? null, pk);
      this.#dropSegments.run(pk);
      this.#dropJournal.run(pk);
      if (bytes > SWEEP_BYTES) break;
    }
    return changed;
  }
}
