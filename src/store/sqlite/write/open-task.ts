import type { CountedTask } from "../counters.ts";

/** One row of the hot log: the entries that one commit added to one task. */
export interface HotRow {
  readonly n: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
}

/**
 * The writer's cached data of a task, so that a write needs no query. There is one writer, so cache and file agree. A task with rows in the hot
 * log is always cached: the file has no index from tasks to rows.
 */
export interface OpenTask extends CountedTask {
  readonly pk: number;
  readonly id: string;
  counted: boolean;
  state: number;
  statusAt: number;
  ended: boolean;
  epoch: number;
  node: string | undefined;
  seq: number;
  /** Ids of the inbox entries; the value is true for a message. */
  readonly inbox: Map<string, boolean>;
  /** Number of messages in the inbox. */
  waiting: number;
  hasSteps: boolean;
  hasArtifacts: boolean;
  hot: HotRow[];
  hotBytes: number;
}

export function addHotRow(task: OpenTask, row: HotRow): void {
  task.hot.push(row);
  task.hotBytes += row.bytes;
  task.seq = Math.max(task.seq, row.last);
}

/** Removes the oldest rows up to and including this one. */
export function dropHotRows(task: OpenTask, through: number): void {
  task.hot = task.hot.filter((row) => row.n > through);
  task.hotBytes = task.hot.reduce((sum, row) => sum + row.bytes, 0);
}
