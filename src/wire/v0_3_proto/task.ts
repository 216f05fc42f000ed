import type { Artifact } from "../../protocol/artifact.ts";
import { invalidField } from "../../protocol/error.ts";
import { readMessage, readTask, type StoredTask } from "../../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import type { TaskStatus } from "../../protocol/task.ts";
import { type TaskReaders, taskReaders } from "../client/remote-task.ts";
import type { LargeTaskFormat } from "../codec.ts";
import { NUMBERED_STATES } from "../fields/state-numbers.ts";
import { largeTaskFormat, partsBy } from "../large-task.ts";
import { decodeRemoteMessage, messageObject } from "./message.ts";
import { decodePart, partObject } from "./part.ts";

const STATE_NAMES: Readonly<Record<TaskState, string>> = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  // With two l, unlike in all other versions.
  canceled: "TASK_STATE_CANCELLED",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  rejected: "TASK_STATE_REJECTED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
};

/** By number, by name, and with one l, as 1.0 writes it. */
const REMOTE_STATES: ReadonlyMap<unknown, TaskState | undefined> = new Map<unknown, TaskState | undefined>([
  ...NUMBERED_STATES.map((state, number) => [number, state] as const),
  ...TASK_STATES.map((state) => [STATE_NAMES[state], state] as const),
  ["TASK_STATE_CANCELED", "canceled"],
  ["TASK_STATE_UNSPECIFIED", undefined],
  [undefined, undefined],
]);

/** Encodes a task in proto style. Artifacts that need no change are inserted as they are stored, because they can be large. */
export function encodeTask(stored: StoredTask): string {
  const { artifacts, ...head } = stored;
  const isStored = artifacts !== undefined && isStoredForm(artifacts);
  const task = readTask(isStored ? head : stored);
  const text = JSON.stringify({
    id: task.id,
    contextId: task.contextId,
    status: statusObject(task.status),
    artifacts: task.artifacts?.map(artifactObject),
    history: task.history?.map(messageObject),
    metadata: task.metadata,
  });
  return isStored ? `${text.slice(0, -1)},"artifacts":${artifacts}}` : text;
}

/** Members of stored parts that this style writes differently, with the underscores that escape them. */
const NOT_STORED_FORM = /"_*(?:raw|url|data|mediaType|filename|data_part_compat)":/;

/**
 * Whether stored artifacts already have the format of this style, as text-only artifacts do. May return false for artifacts that have it,
 * but never true for others: quotes within strings are escaped, so a member with one of these names is always found.
 */
export function isStoredForm(storedArtifacts: string): boolean {
  return !NOT_STORED_FORM.test(storedArtifacts);
}

/** `{ state: "canceled", timestamp }` becomes `{ state: "TASK_STATE_CANCELLED", timestamp }`. */
export function statusObject({ state, message, timestamp }: TaskStatus): object {
  return {
    state: STATE_NAMES[state],
    ...(message !== undefined && { message: messageObject(message) }),
    timestamp,
  };
}

/** As in the neutral model, with the parts of this style. */
export function artifactObject(artifact: Artifact): object {
  return { ...artifact, parts: artifact.parts.map(partObject) };
}

const allParts = partsBy(partObject);

/** Parts that are stored in this style are passed on without parsing. */
export const LARGE_TASK: LargeTaskFormat = largeTaskFormat({
  artifact: (artifact) => JSON.stringify(artifactObject(artifact)),
  parts: (stored) => (isStoredForm(stored) ? stored : allParts(stored)),
  message: (stored) => JSON.stringify(messageObject(readMessage(stored))),
});

function decodeRemoteState(value: unknown, path: string): TaskState | undefined {
  if (!REMOTE_STATES.has(value)) throw invalidField(path, "is not a task state");
  return REMOTE_STATES.get(value);
}

/** Readers of tasks from agents. */
export const remote: TaskReaders = taskReaders({
  message: decodeRemoteMessage,
  part: decodePart,
  state: decodeRemoteState,
});
