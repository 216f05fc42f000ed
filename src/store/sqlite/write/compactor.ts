import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LogFolder } from "./log-folder.ts";
import { dropHotRows, type HotRow, type OpenTask } from "./open-task.ts";
import type { OpenTasks } from "./open-tasks.ts";

/** A finished log up to this size stays in the task's own row. */
const MAX_INLINE_LOG = 16_000;
const SEGMENT_BYTES = 256_000;
/** The artifacts of a larger log are not made of it before somebody reads them, and then piece by piece. */
const MAX_FOLD_BYTES = 1_000_000;
/** How much one transaction moves at most. */
const BUDGET_BYTES = 4_000_000;
const BUDGET_TASKS = 128;

/**
 * Moves what has cooled down out of the hot log, where the entries of all tasks lie mixed: into the row of a short finished
 * task, or into segments that hold one task's entries side by side. Also makes the artifacts of finished tasks.
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
   * Works on the given tasks, within the transaction that is open, as far as one go allows; removes from the set those it is
   * done with. Returns for each task it moved something of the last row that is gone.
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

/** The rows in runs of about a segment's length, at least one each. */
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
