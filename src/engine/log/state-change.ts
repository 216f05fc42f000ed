import { isTerminal, type TaskState } from "../../protocol/state.ts";

/** Whether a task may change from one state to another. `via`: states that must be written in between, in order. */
export type StateChangePlan =
  | { readonly ok: true; readonly via: readonly TaskState[] }
  | { readonly ok: false; readonly reason: string };

const DIRECT: StateChangePlan = { ok: true, via: [] };
const VIA_WORKING: StateChangePlan = { ok: true, via: ["working"] };

/**
 * Plans a change of a task's state. A terminal state never changes, and no task returns to `submitted`. Agents and relayed servers often
 * leave out `working`; the plan inserts it.
 */
export function planStateChange(from: TaskState, to: TaskState): StateChangePlan {
  if (isTerminal(from)) return { ok: false, reason: `The task is ${from}, which is final; it cannot become ${to}.` };
  if (to === "submitted") return { ok: false, reason: `The task is ${from}; it cannot become submitted again.` };
  if (from === "working" || to === "working") return DIRECT;
  // A task that waits, or has not started, can fail or be canceled or rejected without `working` in between.
  const isStopped = to === "failed" || to === "canceled" || to === "rejected";
  return isStopped ? DIRECT : VIA_WORKING;
}
