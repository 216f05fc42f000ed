import type { Connections } from "./connections.ts";

/** Milliseconds after which the tasks are counted again. The contract allows 5 seconds. */
const MAX_AGE = 2000;

/**
 * How many tasks there are, for `maxTasks`. Counting at every commit would cost too much, and a counter would be a row that every commit of every
 * node changes. So each node counts from time to time, and adds what it creates itself.
 */
export class TaskCount {
  readonly #connections: Connections;
  readonly #schema: string;
  readonly #maxTasks: number | undefined;
  #known = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(connections: Connections, schema: string, maxTasks: number | undefined) {
    this.#connections = connections;
    this.#schema = schema;
    this.#maxTasks = maxTasks;
  }

  /** How many tasks may be created before others must be deleted; negative if there are too many. `undefined`: any number. */
  async room(): Promise<number | undefined> {
    if (this.#maxTasks === undefined) return undefined;
    if (performance.now() - this.#countedAt > MAX_AGE) await this.refresh();
    return this.#maxTasks - this.#known;
  }

  /** This node has created or deleted tasks. */
  changed(by: number): void {
    this.#known += by;
  }

  async refresh(): Promise<void> {
    const [row] = await this.#connections.query(`SELECT count(*) AS number FROM ${this.#schema}.task`, []);
    this.#known = Number(row?.["number"]);
    this.#countedAt = performance.now();
  }
}
