import type { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * The number of tasks per scope, context and state: in total (level 0), and by the time of their status in ever smaller buckets, so that the
 * number since any time is the sum of a few rows. The context `""` stands for the whole scope.
 */
export const LEVELS: readonly { readonly level: number; readonly width: number }[] = [
  { level: 1, width: 2 ** 28 },
  { level: 2, width: 2 ** 22 },
  { level: 3, width: 2 ** 16 },
  { level: 4, width: 2 ** 10 },
];
/** Milliseconds of the smallest bucket; within a bucket, rows are counted. */
export const FINEST = 1024;

export interface CountedTask {
  readonly scope: number;
  readonly context: string;
  /** The counters of the task's context include the task. */
  readonly counted: boolean;
  readonly state: number;
  readonly statusAt: number;
}

interface Delta {
  readonly scope: number;
  readonly context: string;
  readonly level: number;
  readonly state: number;
  readonly bucket: number;
  n: number;
}

/** Collects the counter changes of a transaction and writes each counter once. */
export class CounterDeltas {
  readonly #finest = new Map<string, Delta>();
  readonly #onTotal: (state: number, by: number) => void;
  readonly #add: StatementSync;
  readonly #remove: StatementSync;

  /** `onTotal` is called with every change of the number of tasks in a state. */
  constructor(database: DatabaseSync, onTotal: (state: number, by: number) => void) {
    this.#onTotal = onTotal;
    this.#add = database.prepare(
      `INSERT INTO counter (scope, context, level, state, bucket, n) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET n = n + excluded.n`,
    );
    this.#remove = database.prepare(
      "DELETE FROM counter WHERE scope = ? AND context = ? AND level = ? AND state = ? AND bucket = ? AND n = 0",
    );
  }

  /** Adds 1 or -1 to the counters of a task. */
  count(task: CountedTask, by: number): void {
    this.#bump(task, "", by);
    if (task.counted) this.#bump(task, task.context, by);
  }

  /** Changes only the counters of the context. */
  countInContext(task: CountedTask): void {
    this.#bump(task, task.context, 1);
  }

  flush(): void {
    if (this.#finest.size === 0) return;
    const deltas = new Map<string, Delta>();
    for (const delta of this.#finest.values()) {
      if (delta.n === 0) continue;
      if (delta.context === "") this.#onTotal(delta.state, delta.n);
      widen(deltas, delta, { level: 0, bucket: 0 });
      const at = delta.bucket * FINEST;
      for (const { level, width } of LEVELS) widen(deltas, delta, { level, bucket: Math.floor(at / width) });
    }
    this.#finest.clear();
    for (const { scope, context, level, state, bucket, n } of deltas.values()) {
      if (n === 0) continue;
      this.#add.run(scope, context, level, state, bucket, n);
      if (n < 0) this.#remove.run(scope, context, level, state, bucket);
    }
  }

  discard(): void {
    this.#finest.clear();
  }

  #bump({ scope, state, statusAt }: CountedTask, context: string, by: number): void {
    const bucket = Math.floor(statusAt / FINEST);
    const key = `${scope}/${state}/${bucket}/${context}`;
    const delta = this.#finest.get(key);
    if (delta === undefined) this.#finest.set(key, { scope, context, level: 4, state, bucket, n: by });
    else delta.n += by;
  }
}

function widen(
  deltas: Map<string, Delta>,
  { scope, context, state, n }: Delta,
  { level, bucket }: { readonly level: number; readonly bucket: number },
): void {
  const key = `${scope}/${state}/${level}/${bucket}/${context}`;
  const delta = deltas.get(key);
  if (delta === undefined) deltas.set(key, { scope, context, level, state, bucket, n });
  else delta.n += n;
}
