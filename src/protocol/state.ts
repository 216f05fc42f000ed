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

export type TaskState = (typeof TASK_STATES)[number];
export type TerminalState = "completed" | "failed" | "canceled" | "rejected";
export type InterruptedState = "input-required" | "auth-required";

/** A terminal state is the last state of a task. */
export function isTerminal(state: TaskState): state is TerminalState {
  return state === "completed" || state === "failed" || state === "canceled" || state === "rejected";
}

/** The agent waits for the caller. */
export function isInterrupted(state: TaskState): state is InterruptedState {
  return state === "input-required" || state === "auth-required";
}
