import type { TaskState } from "../../protocol/state.ts";

/** Task states by their numbers in the proto definition. 0 is "unspecified". */
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
