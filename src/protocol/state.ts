/** The states of a task (A2A 1.0 §4.1.3), without "unspecified": a task of this server always has a state. */
export const TASK_STATES = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
] as const;

/** The neutral names are those of 0.3 JSON; 1.0 writes `TASK_STATE_INPUT_REQUIRED` for `input-required`. */
export type TaskState = (typeof TASK_STATES)[number];
/** The task ended. It never changes again; a follow-up is a new task in the same context. */
export type TerminalState = "completed" | "failed" | "canceled" | "rejected";
/** The task waits for its caller, and continues with the answer. */
export type InterruptedState = "input-required" | "auth-required";

/** A terminal state is the last state of a task. */
export function isTerminal(state: TaskState): state is TerminalState {
  return state === "completed" || state === "failed" || state === "canceled" || state === "rejected";
}

/** The agent waits for the caller. */
export function isInterrupted(state: TaskState): state is InterruptedState {
  return state === "input-required" || state === "auth-required";
}
