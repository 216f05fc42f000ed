/**
 * The kinds of discrepancy.
 *
 * - `lost`, `repeated`, `out-of-order`, `changed`: received events differ from the log.
 * - `stuck`: a task, a webhook or a caller still waits.
 * - `merged`: our own client merged several events, and its final task is complete.
 * - `whole-task`: a webhook of events received a whole task instead of an event.
 * - `skipped-status`: a webhook of whole tasks missed a change of status, and received only later ones.
 * - `step-again`: a step ran again after its result was committed.
 * - `second-answer`: one of two answers to one question never got a response.
 * - `attempts-exhausted`: a healthy task failed after several crashes.
 * - `ended-wrong`: a task or a call ended in a way that script and callers do not explain.
 * - `failed`: a client got an error that no failure of the server or the network explains.
 * - `old-epoch`: a process wrote to a task whose lease another process had claimed.
 * - `died`: the server crashed, or did not shut down regularly.
 */
export const DISCREPANCIES = [
  "lost",
  "repeated",
  "out-of-order",
  "changed",
  "stuck",
  "merged",
  "whole-task",
  "skipped-status",
  "step-again",
  "second-answer",
  "attempts-exhausted",
  "ended-wrong",
  "failed",
  "old-epoch",
  "died",
] as const;
export type DiscrepancyKind = (typeof DISCREPANCIES)[number];

export interface Discrepancy {
  readonly kind: DiscrepancyKind;
  /** The name of the task in the plan; empty if no task is concerned. */
  readonly task: string;
  /** The participant whose record differs. */
  readonly who: string;
  /** One sentence. */
  readonly what: string;
  /** If records differ: the log and the received events, from shortly before the first difference. */
  readonly expected?: readonly string[];
  readonly seen?: readonly string[];
}
