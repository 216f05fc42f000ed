import { TASK_STATES, type TaskState } from "../../../protocol/state.ts";

/** Task states as numbers in the file. Never change a number: stored rows use it. */
export const STATE_CODE: Readonly<Record<TaskState, number>> = {
  submitted: 1,
  working: 2,
  "input-required": 3,
  "auth-required": 4,
  completed: 5,
  failed: 6,
  canceled: 7,
  rejected: 8,
};

const STATES: readonly (TaskState | undefined)[] = Array.from({ length: 9 }, (_, code) =>
  TASK_STATES.find((state) => STATE_CODE[state] === code),
);

export function stateOf(code: number): TaskState {
  const state = STATES[code];
  if (state === undefined) throw new Error(`The file has a task with the unknown state ${code}.`);
  return state;
}
