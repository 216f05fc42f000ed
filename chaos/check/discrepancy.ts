/**
 * What may be wrong.
 *
 * - `lost`, `repeated`, `out-of-order`, `changed`: a story differs from the log.
 * - `stuck`: a task, a webhook or a caller still waits.
 * - `merged`: our own client put several events together, with nothing missing in the end.
 * - `whole-task`: a webhook of events got a whole task in place of one.
 * - `skipped-status`: a webhook of whole tasks was not told of a change of status, only of later ones.
 * - `step-again`: a step ran again after its result was committed.
 * - `second-answer`: one of two answers to one question never got a reply.
 * - `attempts-exhausted`: a healthy task was failed after several crashes.
 * - `ended-wrong`: a task or a call ended in another way than the script and the callers explain.
 * - `failed`: a client got an error that no failure of the server or the network explains.
 * - `died`: the server ended by itself, or not in good order.
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
  "died",
] as const;
export type DiscrepancyKind = (typeof DISCREPANCIES)[number];

export interface Discrepancy {
  readonly kind: DiscrepancyKind;
  /** The task, by the plan's name; empty where it is none's. */
  readonly task: string;
  /** Whose story it is. */
  readonly who: string;
  /** One sentence. */
  readonly what: string;
  /** Where stories differ: the log, and what was seen, from shortly before the first difference on. */
  readonly expected?: readonly string[];
  readonly seen?: readonly string[];
}
