import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LogFolder } from "./log-folder.ts";
import { dropHotRows, type HotRow, type OpenTask } from "./open-task.ts";
import type { OpenTasks } from "./open-tasks.ts";

/** A finished log up to this many bytes is stored in the task's row. */
const MAX_INLINE_LOG = 16_000;
const SEGMENT_BYTES = 256_000;
/** The artifacts of a larger log are computed when they are read, piece by piece. */
const MAX_FOLD_BYTES = 1_000_000;
/** Limits of one transaction. */
const BUDGET_BYTES = 4_000_000;
const BUDGET_TASKS = 128;

/**
 * Moves entries of tasks that are ended, released or long out of the hot log, which mixes the entries of all tasks: into the task's row (a short
 * finished log) or into segments with entries of one task only. Also computes the artifacts of finished tasks.
 */
export class Compactor {
  readonly #selectHot: StatementSync;
  readonly #deleteHot: StatementSync;
  readonly #insertSegment: StatementSync;
  readonly #hasSegment: StatementSync;
  readonly #setLog: StatementSync;
  readonly #setSeq: StatementSync;
  readonly #setArtifacts: StatementSync;
  readonly #folder: LogFolder;
  readonly #open: OpenTasks;

  constructor(database: DatabaseSync, parts: { readonly folder: LogFolder; readonly open: OpenTasks }) {
    this.#folder = parts.folder;
    this.#open = parts.open;
    this.#selectHot = database.prepare("SELECT body FROM log WHERE n = ?");
    this.#deleteHot = database.prepare("DELETE FROM log WHERE n = ?");
    this.#insertSegment = database.prepare("INSERT INTO segment (task, last, first, body) VALUES (?, ?, ?, ?)");
    this.#hasSegment = database.prepare("SELECT 1 FROM segment WHERE task = ? LIMIT 1");
    this.#setLog = database.prepare("UPDATE task SET log = ? WHERE pk = ?");
    this.#setSeq = database.prepare("UPDATE task SET seq = ? WHERE pk = ?");
    this.#setArtifacts = database.prepare("UPDATE task SET artifacts = ? WHERE pk = ?");
  }

  /**
   * Compacts the given tasks within the open transaction, up to the limits, and removes them from the set. Returns each task with the number of
   * its last row that left the hot log.
   */
  run(tasks: Set<OpenTask>): [string, number][] {
    const moved: [string, number][] = [];
    let bytes = 0;
    for (const task of tasks) {
      if (bytes >= BUDGET_BYTES || moved.length >= BUDGET_TASKS) break;
      bytes += task.hotBytes;
      const last = this.#move(task);
      if (last !== undefined) moved.push([task.id, last]);
      if (task.ended && !task.hasArtifacts) this.#fold(task);
      tasks.delete(task);
      if (task.node === undefined) this.#open.forget(task);
    }
    return moved;
  }

  #move(task: OpenTask): number | undefined {
    const last = task.hot.at(-1);
    if (last === undefined) return undefined;
    const isShort = task.ended && task.hotBytes <= MAX_INLINE_LOG && this.#hasSegment.get(task.pk) === undefined;
    if (isShort) this.#setLog.run(this.#textOf(task.hot), task.pk);
    else {
      for (const rows of runsOf(task.hot)) this.#writeSegment(task, rows);
      if (!task.ended) this.#setSeq.run(task.seq, task.pk);
    }
    for (const { n } of task.hot) this.#deleteHot.run(n);
    dropHotRows(task, last.n);
    return last.n;
  }

  #writeSegment(task: OpenTask, rows: readonly HotRow[]): void {
    const first = rows[0];
    const last = rows.at(-1);
    if (first === undefined || last === undefined) return;
    this.#insertSegment.run(task.pk, last.last, first.first, this.#textOf(rows));
  }

  #textOf(rows: readonly HotRow[]): string {
    return rows.map(({ n }) => String(this.#selectHot.get(n)?.["body"])).join("\n");
  }

  #fold(task: OpenTask): void {
    if (this.#folder.sizeOf(task.pk) > MAX_FOLD_BYTES) return;
    const artifacts = this.#folder.fold(task.pk);
    if (artifacts !== undefined) this.#setArtifacts.run(artifacts, task.pk);
  }
}

/** Splits the rows into lists of about `SEGMENT_BYTES`, at least one row each. */
function* runsOf(rows: readonly HotRow[]): Generator<readonly HotRow[]> {
  let run: HotRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (run.length > 0 && bytes + row.bytes > SEGMENT_BYTES) {
      yield run;
      run = [];
      bytes = 0;
    }
    run.push(row);
    bytes += row.bytes;
  }
  if (run.length > 0) yield run;
}
