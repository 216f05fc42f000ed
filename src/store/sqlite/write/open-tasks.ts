import type { DatabaseSync, StatementSync } from "node:sqlite";
import { addHotRow, type OpenTask } from "./open-task.ts";

/** Cache size: beyond it, tasks without a lease and without hot rows are evicted and read again when needed. */
const MAX_REMEMBERED = 20_000;

const COLUMNS =
  "pk, id, scope, context, counted, state, status_at, ended, epoch, node, seq, artifacts IS NOT NULL AS folded";

/** The writer's cache of tasks; loads tasks that it does not have. */
export class OpenTasks {
  readonly #byId = new Map<string, OpenTask>();
  readonly #select: StatementSync;
  readonly #selectByKey: StatementSync;
  readonly #selectInbox: StatementSync;
  readonly #selectStep: StatementSync;
  readonly #selectLog: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(`SELECT ${COLUMNS} FROM task WHERE id = ?`);
    this.#selectByKey = database.prepare(`SELECT ${COLUMNS} FROM task WHERE pk = ?`);
    this.#selectInbox = database.prepare("SELECT id, cancel FROM inbox WHERE task = ?");
    this.#selectStep = database.prepare("SELECT 1 FROM step WHERE task = ? LIMIT 1");
    this.#selectLog = database.prepare("SELECT n, task, first, last, octet_length(body) AS bytes FROM log ORDER BY n");
  }

  /** The task with this id, ended or not. */
  find(id: string): OpenTask | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const row = this.#select.get(id);
    if (row === undefined) return undefined;
    const task = this.#read(row);
    if (!task.ended) this.add(task);
    return task;
  }

  recall(id: string): OpenTask | undefined {
    return this.#byId.get(id);
  }

  add(task: OpenTask): void {
    if (this.#byId.size >= MAX_REMEMBERED) this.#forgetIdle();
    this.#byId.set(task.id, task);
  }

  /** Evicts a task that can be read again. */
  forget(task: OpenTask): void {
    if (task.hot.length === 0 && this.#byId.get(task.id) === task) this.#byId.delete(task.id);
  }

  all(): IterableIterator<OpenTask> {
    return this.#byId.values();
  }

  /** Clears the cache and loads the tasks that have rows in the hot log. Returns the number of the last row. */
  reload(): number {
    this.#byId.clear();
    const byKey = new Map<number, OpenTask>();
    let last = 0;
    for (const row of this.#selectLog.iterate()) {
      const pk = Number(row["task"]);
      let task = byKey.get(pk);
      if (task === undefined) {
        const found = this.#selectByKey.get(pk);
        if (found === undefined) throw new Error(`The log has entries of a task that does not exist (${pk}).`);
        task = this.#read(found);
        this.#byId.set(task.id, task);
        byKey.set(pk, task);
      }
      last = Number(row["n"]);
      addHotRow(task, { n: last, first: Number(row["first"]), last: Number(row["last"]), bytes: Number(row["bytes"]) });
    }
    return last;
  }

  #forgetIdle(): void {
    for (const task of this.#byId.values()) {
      if (task.hot.length === 0 && task.node === undefined) this.#byId.delete(task.id);
    }
  }

  #read(row: Record<string, unknown>): OpenTask {
    const pk = Number(row["pk"]);
    const inbox = new Map<string, boolean>();
    const ended = row["ended"] === 1;
    if (!ended) for (const entry of this.#selectInbox.all(pk)) inbox.set(String(entry["id"]), entry["cancel"] === 0);
    return {
      pk,
      id: String(row["id"]),
      scope: Number(row["scope"]),
      context: String(row["context"]),
      counted: row["counted"] === 1,
      state: Number(row["state"]),
      statusAt: Number(row["status_at"]),
      ended,
      epoch: Number(row["epoch"]),
      node: typeof row["node"] === "string" ? row["node"] : undefined,
      seq: Number(row["seq"]),
      inbox,
      waiting: Array.from(inbox.values()).filter(Boolean).length,
      hasSteps: !ended && this.#selectStep.get(pk) !== undefined,
      hasArtifacts: row["folded"] === 1,
      hot: [],
      hotBytes: 0,
    };
  }
}
