import { expect, test } from "vitest";
import { isInterrupted, isTerminal, TASK_STATES } from "./state.ts";

test("every state is exactly one of active, interrupted and terminal", () => {
  expect(TASK_STATES.filter(isTerminal)).toEqual(["completed", "failed", "canceled", "rejected"]);
  expect(TASK_STATES.filter(isInterrupted)).toEqual(["input-required", "auth-required"]);
  expect(TASK_STATES.filter((state) => !isTerminal(state) && !isInterrupted(state))).toEqual(["submitted", "working"]);
});
