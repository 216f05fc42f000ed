import type { TaskId } from "../protocol/ids.ts";
import type { StepRecord } from "./task-operations.ts";

/** A value that the tasks of one context share. Values belong to one agent, tenant, owner and context. */
export interface ContextValue {
  readonly key: string;
  readonly value: string;
  /** The number of the change that set the value. Each change of the context has a higher number, so a version is never used twice. */
  readonly version: number;
}

/**
 * Sets or deletes a value of the task's context. Only the node that holds the task's lease may do this. Outcomes: `ok` with the new `version`,
 * `conflict` (see `expected`), `full` (see `maxBytes`), `fenced`, `ended`, `not-found`. Nothing is applied unless the outcome is `ok`.
 *
 * The values of a context are deleted together with its last task.
 */
export interface ContextWrite {
  readonly kind: "context-write";
  /** The task that writes: its scope and its context say where the value belongs. */
  readonly task: TaskId;
  /** Must equal the epoch of the current lease, as in `TaskWrite`. */
  readonly epoch: number;
  /** Not empty. */
  readonly key: string;
  /** Absent: deletes the value. */
  readonly value?: string;
  /** The version that the value must have now, else the outcome is `conflict`. 0: there must be no value. Absent: any. */
  readonly expected?: number;
  /** The outcome is `full` if the keys and values of the context would have more bytes of UTF-8 than this. A delete is always accepted. */
  readonly maxBytes: number;
  /** Added to the step records of the task in the same transaction, so that a replay does not write the value again. */
  readonly step?: StepRecord;
}
