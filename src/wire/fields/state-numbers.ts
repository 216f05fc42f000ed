import type { TaskState } from "../../protocol/state.ts";

/** The states by their numbers in the definition of the service. 0 says nothing. */
export const NUMBERED_STATES: readonly (TaskState | undefined)[] = [
  undefined,
  "submitted",
  "working",
  "completed",
  "failed",
  "canceled",
  "input-required",
  "rejected",
  "auth-required",
];
