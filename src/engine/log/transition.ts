import { isTerminal, type TaskState } from "../../protocol/state.ts";

/** How to get from one state to another. `via` holds the states to be written in between, in order. */
export type Move =
  | { readonly ok: true; readonly via: readonly TaskState[] }
  | { readonly ok: false; readonly reason: string };

const DIRECT: Move = { ok: true, via: [] };
const THROUGH_WORKING: Move = { ok: true, via: ["working"] };

/**
 * Says whether a task may go from one state to another. Nothing leaves a terminal state and nothing returns to
 * `submitted`. Agents and relayed servers often skip `working`; it is put in for them.
 */
export function planMove(from: TaskState, to: TaskState): Move {
  if (isTerminal(from)) return { ok: false, reason: `The task is ${from}, which is final; it cannot become ${to}.` };
  if (to === "submitted") return { ok: false, reason: `The task is ${from}; it cannot become submitted again.` };
  if (from === "working" || to === "working") return DIRECT;
  // Whoever waits or has not begun can still be stopped from outside, without having worked.
  const stopped = to === "failed" || to === "canceled" || to === "rejected";
  return stopped ? DIRECT : THROUGH_WORKING;
}
