import type { Artifact } from "../../protocol/artifact.ts";
import { invalidField } from "../../protocol/error.ts";
import { readMessage, readTask, type StoredTask } from "../../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import { type TaskReaders, taskReaders } from "../client/remote-task.ts";
import type { LargeTaskFormat } from "../codec.ts";
import { largeTaskFormat, partsBy } from "../large-task.ts";
import { OFFICIAL, type OutputFormat } from "./format.ts";
import { decodeRemoteMessage, messageObject, statusMessageObject } from "./message.ts";
import { decodeRemotePart } from "./part.ts";

/** A task as this version writes it. */
export function encodeTask(stored: StoredTask, format?: OutputFormat): string {
  return JSON.stringify(taskObject(readTask(stored), format));
}

export function taskObject(task: Task, format: OutputFormat = OFFICIAL): object {
  return {
    kind: "task",
    id: task.id,
    contextId: task.contextId,
    status: statusObject(task.status, format),
    artifacts: task.artifacts?.map((artifact) => artifactObject(artifact, format)),
    history: task.history?.map((message) => messageObject(message, format)),
    metadata: task.metadata,
  };
}

/** States are spelt here as they are in the neutral model. */
export function statusObject(status: TaskStatus, format: OutputFormat): object {
  const { message } = status;
  return message === undefined ? status : { ...status, message: statusMessageObject(message, format) };
}

export function artifactObject(artifact: Artifact, format: OutputFormat): object {
  return { ...artifact, parts: artifact.parts.map((part) => format.part(part)) };
}

/** How tasks with large members are written; to be made once. */
export function largeTaskBy(format: OutputFormat): LargeTaskFormat {
  return largeTaskFormat({
    artifact: (artifact) => JSON.stringify(artifactObject(artifact, format)),
    parts: partsBy((part) => format.part(part)),
    message: (stored) => JSON.stringify(messageObject(readMessage(stored), format)),
  });
}

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
