import type { Artifact } from "../../protocol/artifact.ts";
import { invalidField } from "../../protocol/error.ts";
import { readMessage, readTask, type StoredTask } from "../../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import type { LargeTaskSpelling } from "../codec.ts";
import { largeTaskSpelling, partsBy } from "../large-task.ts";
import { type TaskReaders, taskReaders } from "../remote-task.ts";
import { decodeRemoteMessage, messageObject } from "./message.ts";
import { decodeRemotePart, partObject } from "./part.ts";

/** A task as this version writes it. */
export function encodeTask(stored: StoredTask): string {
  return JSON.stringify(taskObject(readTask(stored)));
}

export function taskObject(task: Task): object {
  return {
    kind: "task",
    id: task.id,
    contextId: task.contextId,
    status: statusObject(task.status),
    artifacts: task.artifacts?.map(artifactObject),
    history: task.history?.map(messageObject),
    metadata: task.metadata,
  };
}

/** States are spelt here as they are in the neutral model. */
export function statusObject(status: TaskStatus): object {
  return status.message === undefined ? status : { ...status, message: messageObject(status.message) };
}

export function artifactObject(artifact: Artifact): object {
  return { ...artifact, parts: artifact.parts.map(partObject) };
}

export const LARGE_TASK: LargeTaskSpelling = largeTaskSpelling({
  artifact: (artifact) => JSON.stringify(artifactObject(artifact)),
  parts: partsBy(partObject),
  message: (stored) => JSON.stringify(messageObject(readMessage(stored))),
});

/** Other names agents use, those of the definition for REST and gRPC among them. */
const REMOTE_STATES: ReadonlyMap<unknown, TaskState | undefined> = new Map<unknown, TaskState | undefined>([
  ...TASK_STATES.flatMap((state) => [[state, state] as const, [definedName(state), state] as const]),
  ["cancelled", "canceled"],
  [definedName("cancelled"), "canceled"],
  ["started", "submitted"],
  ["unknown", undefined],
  [definedName("unspecified"), undefined],
  [undefined, undefined],
]);

function definedName(state: string): string {
  return `TASK_STATE_${state.toUpperCase().replace("-", "_")}`;
}

function decodeRemoteState(value: unknown, path: string): TaskState | undefined {
  if (!REMOTE_STATES.has(value)) throw invalidField(path, `must be one of ${TASK_STATES.join(", ")}`);
  return REMOTE_STATES.get(value);
}

/** What an agent sends. */
export const remote: TaskReaders = taskReaders({
  message: decodeRemoteMessage,
  part: decodeRemotePart,
  state: decodeRemoteState,
});
