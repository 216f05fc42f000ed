import { invalidField } from "../../protocol/error.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import { type TaskReaders, taskReaders } from "../client/remote-task.ts";
import type { LargeTaskFormat } from "../codec.ts";
import { NUMBERED_STATES as STATES } from "../fields/state-numbers.ts";
import { largeTaskFormat } from "../large-task.ts";
import { decodeRemoteMessage } from "./message.ts";
import { decodeRemotePart } from "./part.ts";

/**
 * Encodes a task by concatenating its stored texts, which already have the format of 1.0. No JSON is parsed, so that reading a task costs
 * little more than reading its texts.
 */
export function encodeTask(task: StoredTask): string {
  let text = `{"id":${JSON.stringify(task.id)},"contextId":${JSON.stringify(task.contextId)},"status":${task.status}`;
  if (task.artifacts !== undefined) text += `,"artifacts":${task.artifacts}`;
  if (task.history !== undefined) text += `,"history":${task.history}`;
  if (task.metadata !== undefined) text += `,"metadata":${task.metadata}`;
  return `${text}}`;
}

/** Stored texts already have the format of 1.0. */
export const LARGE_TASK: LargeTaskFormat = largeTaskFormat({
  artifact: (artifact) => JSON.stringify(artifact),
  parts: (stored) => stored,
  message: (stored) => stored,
});

/** The state of an agent that does not report one. */
export const UNSPECIFIED = "TASK_STATE_UNSPECIFIED";

/** By the numbers of the proto definition, as `NUMBERED_STATES`. */
const STATE_NAMES: readonly string[] = [
  UNSPECIFIED,
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
];

/** The state filter of a list, by name or number. `undefined` for "unspecified": no filter. */
export function decodeStateFilter(value: unknown, path: string): TaskState | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "string" ? STATE_NAMES.indexOf(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number < STATES.length)
    return STATES[number];
  throw invalidField(path, `must be one of ${STATE_NAMES.slice(1).join(", ")}`);
}

/** The name of a state in 1.0: `input-required` becomes `TASK_STATE_INPUT_REQUIRED`. */
export function encodeStateFilter(state: TaskState): string {
  return STATE_NAMES[STATES.indexOf(state)] ?? "";
}

/** Agents send states by name or number, and some with the names of 0.x. `undefined`: the state is known to be unspecified. */
const REMOTE_STATES: ReadonlyMap<unknown, TaskState | undefined> = new Map<unknown, TaskState | undefined>([
  ...STATES.map((state, number) => [number, state] as const),
  ...STATE_NAMES.map((name, number) => [name, STATES[number]] as const),
  ...TASK_STATES.map((state) => [state, state] as const),
  ["TASK_STATE_CANCELLED", "canceled"],
  ["cancelled", "canceled"],
  ["unknown", undefined],
  [undefined, undefined],
]);

function decodeRemoteState(value: unknown, path: string): TaskState | undefined {
  if (!REMOTE_STATES.has(value)) throw invalidField(path, `must be one of ${STATE_NAMES.slice(1).join(", ")}`);
  return REMOTE_STATES.get(value);
}

/** Readers of tasks from agents. */
export const remote: TaskReaders = taskReaders({
  message: decodeRemoteMessage,
  part: decodeRemotePart,
  state: decodeRemoteState,
});
