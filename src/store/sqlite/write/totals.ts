import type { DatabaseSync, StatementSync } from "node:sqlite";
import { noTasks } from "../../statistics.ts";
import { stateOf } from "../row/state-code.ts";

/** The figures of `StoreStatistics` that the file has. */
export interface FileTotals {
  readonly tasks: ReturnType<typeof noTasks>;
  readonly parked: number;
  /** The tasks that each node holds. */
  readonly held: ReadonlyMap<string, number>;
}

/**
 * Counts tasks by state. The first call reads the index of all tasks; later ones use the changes that transactions report, so that counting does
 * not become slower with the number of tasks.
 */
export class Totals {
  readonly #countAll: StatementSync;
  readonly #countHeld: StatementSync;
  #byState: Map<number, number> | undefined;

  constructor(database: DatabaseSync) {
    this.#countAll = database.prepare("SELECT state, count(*) AS n FROM task INDEXED BY task_by_state GROUP BY state");
    this.#countHeld = database.prepare(
      "SELECT node, count(*) AS n FROM task WHERE ended = 0 AND (node IS NOT NULL OR active = 1) GROUP BY node",
    );
  }

  /** A transaction has changed the number of tasks in a state. */
  change(state: number, by: number): void {
    this.#byState?.set(state, (this.#byState.get(state) ?? 0) + by);
  }

  /** A transaction was rolled back: count again. */
  forget(): void {
    this.#byState = undefined;
  }

  read(): FileTotals {
    this.#byState ??= new Map(this.#countAll.all().map((row) => [Number(row["state"]), Number(row["n"])]));
    const tasks = noTasks();
    for (const [code, n] of this.#byState) tasks[stateOf(code)] = n;
    const held = new Map<string, number>();
    let live = 0;
    for (const { node, n } of this.#countHeld.all()) {
      live += Number(n);
      if (typeof node === "string") held.set(node, Number(n));
    }
    const open = tasks.submitted + tasks.working + tasks["input-required"] + tasks["auth-required"];
    return { tasks, parked: Math.max(0, open - live), held };
  }
}
