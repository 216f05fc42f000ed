import type { CountedTask } from "../counters.ts";

/** One row of the hot log: what one commit added to one task. */
export interface HotRow {
  readonly n: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
}

/**
 * What the writer remembers of a task, so that a write needs no query: it is the only writer, so memory and file agree. A
 * task with rows in the hot log is always remembered, for nothing else knows which rows are its own.
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
  /** What waits, by id: whether it is a message. */
  readonly inbox: Map<string, boolean>;
  /** How many of these are messages. */
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

/** Takes out the oldest rows, up to and including this one. */
export function dropHotRows(task: OpenTask, through: number): void {
  task.hot = task.hot.filter((row) => row.n > through);
  task.hotBytes = task.hot.reduce((sum, row) => sum + row.bytes, 0);
}
