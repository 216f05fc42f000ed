/**
 * A record of what happened to a task: an attempt, a step, a question, a wait, a call of another agent or a delivery, with its times. It has no
 * results. It is kept as long as the log.
 */
export interface JournalRecord {
  /** Unique within the task. A record with the same key replaces the earlier one and keeps its place. */
  readonly key: string;
  readonly body: string;
}
