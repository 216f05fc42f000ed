import { invalidField } from "../../protocol/error.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import { type TaskReaders, taskReaders } from "../remote-task.ts";
import { NUMBERED_STATES as STATES } from "../state-numbers.ts";
import { decodeRemoteMessage } from "./message.ts";
import { decodeRemotePart } from "./part.ts";

/** A task as this version writes it: the stored texts, put together. */
export function encodeTask(task: StoredTask): string {
  let text = `{"id":${JSON.stringify(task.id)},"contextId":${JSON.stringify(task.contextId)},"status":${task.status}`;
  if (task.artifacts !== undefined) text += `,"artifacts":${task.artifacts}`;
  if (task.history !== undefined) text += `,"history":${task.history}`;
  if (task.metadata !== undefined) text += `,"metadata":${task.metadata}`;
  return `${text}}`;
}

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

export function encodeStateFilter(state: TaskState): string {
  return STATE_NAMES[STATES.indexOf(state)] ?? "";
}

/** A task whose agent does not say its state is taken to be at work: it has not ended, and nobody is asked anything. */
const REMOTE_STATES: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ...STATES.map((state, number) => [number, state ?? "working"] as const),
  ...STATE_NAMES.map((name, number) => [name, STATES[number] ?? "working"] as const),
  ...TASK_STATES.map((state) => [state, state] as const),
  ["TASK_STATE_CANCELLED", "canceled"],
  ["cancelled", "canceled"],
  ["unknown", "working"],
  [undefined, "working"],
]);

function decodeRemoteState(value: unknown, path: string): TaskState {
  const state = REMOTE_STATES.get(value);
  if (state === undefined) throw invalidField(path, `must be one of ${STATE_NAMES.slice(1).join(", ")}`);
  return state;
}

/** What an agent sends. */
export const remote: TaskReaders = taskReaders({
  message: decodeRemoteMessage,
  part: decodeRemotePart,
  state: decodeRemoteState,
});
