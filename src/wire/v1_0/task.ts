import { invalidField } from "../../protocol/error.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";

/** A task as this version writes it: the stored texts, put together. */
export function encodeTask(task: StoredTask): string {
  let text = `{"id":${JSON.stringify(task.id)},"contextId":${JSON.stringify(task.contextId)},"status":${task.status}`;
  if (task.artifacts !== undefined) text += `,"artifacts":${task.artifacts}`;
  if (task.history !== undefined) text += `,"history":${task.history}`;
  if (task.metadata !== undefined) text += `,"metadata":${task.metadata}`;
  return `${text}}`;
}

/** By number on the wire. 0 says nothing. */
const STATES: readonly (TaskState | undefined)[] = [
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

const STATE_NAMES = [
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
];

/** The state a list is filtered by, by name or number; unspecified is no filter. */
export function decodeStateFilter(value: unknown, path: string): TaskState | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "string" ? STATE_NAMES.indexOf(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number < STATES.length)
    return STATES[number];
  throw invalidField(path, `must be one of ${STATE_NAMES.slice(1).join(", ")}`);
}
