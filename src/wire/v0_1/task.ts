import type { Artifact } from "../../protocol/artifact.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { readMessage, readTask, type StoredTask } from "../../protocol/serial.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import type { LargeTaskFormat } from "../codec.ts";
import { isWireObject, member } from "../fields/fields.ts";
import { largeTaskFormat, partsBy } from "../large-task.ts";
import { remote as newer } from "../v0_3/task.ts";
import { messageObject, newerMessage } from "./message.ts";
import { newerParts, partObject } from "./part.ts";

/** The states of 0.1 (A2A 0.1 §6.3). It lacks two states, which become the closest ones that it has. */
const STATES: Readonly<Record<TaskState, string>> = {
  submitted: "submitted",
  working: "working",
  "input-required": "input-required",
  "auth-required": "input-required",
  completed: "completed",
  failed: "failed",
  canceled: "canceled",
  rejected: "failed",
};

/** Encodes a task in the format of 0.1. */
export function encodeTask(stored: StoredTask): string {
  return JSON.stringify(taskObject(readTask(stored)));
}

/**
 * `{"id":"t1","sessionId":"c1","status":{…},"artifacts":[{…,"index":0}],"history":[…]}` (A2A 0.1 §6.1). `sessionId` is the context.
 */
export function taskObject(task: Task): object {
  return {
    id: task.id,
    sessionId: task.contextId,
    status: statusObject(task.status),
    artifacts: task.artifacts?.map((artifact, index) => artifactObject(artifact, { index })),
    history: task.history?.map(messageObject),
    metadata: metadataObject(task.metadata),
  };
}

/** Converts the states in `metadata.stateTransitions` to states of 0.1. */
export function metadataObject(metadata: JsonObject | undefined): JsonObject | undefined {
  const transitions = metadata?.["stateTransitions"];
  if (!Array.isArray(transitions)) return metadata;
  return { ...metadata, stateTransitions: transitions.map(transitionObject) };
}

function transitionObject(entry: JsonValue): JsonValue {
  if (!isJsonObject(entry)) return entry;
  const { state } = entry;
  return typeof state === "string" ? { ...entry, state: stateName(state) } : entry;
}

/** The name of a state in 0.1. Other texts are returned unchanged. */
export function stateName(state: string): string {
  const known = TASK_STATES.find((name) => name === state);
  return known === undefined ? state : STATES[known];
}

/** A message of the agent as a completed task, because sends of 0.1 return only tasks. The status has no timestamp. */
export function repliedTaskObject(message: Message): object {
  return { id: repliedTaskId(message), sessionId: message.contextId, status: repliedStatus(message) };
}

/** The id of the task that stands for a bare message, which 0.1 does not have. */
export function repliedTaskId({ taskId, messageId }: Message): string {
  return taskId ?? messageId;
}

/** Completed, with the message as status message. */
export function repliedStatus(message: Message): object {
  return { state: STATES.completed, message: messageObject(message) };
}

/** `{ state: "rejected", timestamp }` becomes `{ state: "failed", timestamp }`. */
export function statusObject({ state, message, timestamp }: TaskStatus): object {
  return { state: STATES[state], ...(message !== undefined && { message: messageObject(message) }), timestamp };
}

/** The number of an artifact within its task, and how a chunk continues the chunks before it. */
export interface ArtifactPlace {
  readonly index: number;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/** Without `artifactId`, which 0.1 does not have: `index` identifies the artifact (A2A 0.1 §6.7). */
export function artifactObject({ name, description, parts, metadata }: Artifact, place: ArtifactPlace): object {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    parts: parts.map(partObject),
    index: place.index,
    ...(place.append === true && { append: true }),
    ...(place.lastChunk === true && { lastChunk: true }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** The index of an artifact is its position in the task. */
export const LARGE_TASK: LargeTaskFormat = largeTaskFormat({
  artifact: (artifact, index) => JSON.stringify(artifactObject(artifact, { index })),
  parts: partsBy(partObject),
  message: (stored) => JSON.stringify(messageObject(readMessage(stored))),
});

/** Decodes a task from an agent. */
export function decodeRemoteTask(value: unknown, path: string): Task {
  return newer.task(newerTask(value), path);
}

/** Converts a task of 0.1 to the format of 0.2, without validating it. */
function newerTask(value: unknown): unknown {
  if (!isWireObject(value)) return value;
  const { status, artifacts, history } = value;
  return {
    ...value,
    contextId: member(value, "contextId", "sessionId"),
    status: newerStatus(status),
    artifacts: Array.isArray(artifacts) ? artifacts.map(newerArtifact) : artifacts,
    history: Array.isArray(history) ? history.flatMap(historyMessages) : history,
  };
}

/** Some agents write statuses instead of messages into the history. This returns the messages of those statuses. */
function historyMessages(entry: unknown): readonly unknown[] {
  if (!isWireObject(entry) || "parts" in entry || !("state" in entry)) return [newerMessage(entry)];
  const message = newerMessage(entry["message"]);
  return message === undefined || message === null ? [] : [message];
}

/** Converts a status of 0.1 to the format of 0.2, without validating it. */
export function newerStatus(value: unknown): unknown {
  return isWireObject(value) ? { ...value, message: newerMessage(value["message"]) } : value;
}

/**
 * Converts an artifact of 0.1 to the format of 0.2: `{"index":1,"parts":[…]}` gets `"artifactId":"1"`. `position` is used if the artifact
 * has no `index`: agents that send a complete list often omit it.
 */
export function newerArtifact(value: unknown, position: number): unknown {
  if (!isWireObject(value)) return value;
  const index = member(value, "index") ?? position;
  return {
    ...value,
    artifactId: member(value, "artifactId") ?? (typeof index === "number" ? String(index) : index),
    parts: newerParts(value["parts"]),
  };
}
