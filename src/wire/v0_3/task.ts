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

/** Encodes a task in the format of 0.3. */
export function encodeTask(stored: StoredTask, format?: OutputFormat): string {
  return JSON.stringify(taskObject(readTask(stored), format));
}

/**
 * `{"kind":"task","id","contextId","status":{"state":"working",…},"artifacts":[…],"history":[…]}` (A2A 0.3 §6.1). Members that were not
 * requested are `undefined`, which JSON omits.
 */
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

/** States have the same names as in the neutral model. */
export function statusObject(status: TaskStatus, format: OutputFormat): object {
  const { message } = status;
  return message === undefined ? status : { ...status, message: statusMessageObject(message, format) };
}

/** As in the neutral model, with the parts of this version. */
export function artifactObject(artifact: Artifact, format: OutputFormat): object {
  return { ...artifact, parts: artifact.parts.map((part) => format.part(part)) };
}

/** Creates the format of large tasks. Call it once per codec. */
export function largeTaskBy(format: OutputFormat): LargeTaskFormat {
  return largeTaskFormat({
    artifact: (artifact) => JSON.stringify(artifactObject(artifact, format)),
    parts: partsBy((part) => format.part(part)),
    message: (stored) => JSON.stringify(messageObject(readMessage(stored), format)),
  });
}

/** The states by all names that agents use, including those of the proto definition. */
const REMOTE_STATES: ReadonlyMap<unknown, TaskState | undefined> = new Map<unknown, TaskState | undefined>([
  ...TASK_STATES.flatMap((state) => [[state, state] as const, [protoName(state), state] as const]),
  ["cancelled", "canceled"],
  [protoName("cancelled"), "canceled"],
  ["started", "submitted"],
  ["unknown", undefined],
  [protoName("unspecified"), undefined],
  [undefined, undefined],
]);

function protoName(state: string): string {
  return `TASK_STATE_${state.toUpperCase().replace("-", "_")}`;
}

function decodeRemoteState(value: unknown, path: string): TaskState | undefined {
  if (!REMOTE_STATES.has(value)) throw invalidField(path, `must be one of ${TASK_STATES.join(", ")}`);
  return REMOTE_STATES.get(value);
}

/** Readers of tasks from agents. */
export const remote: TaskReaders = taskReaders({
  message: decodeRemoteMessage,
  part: decodeRemotePart,
  state: decodeRemoteState,
});
