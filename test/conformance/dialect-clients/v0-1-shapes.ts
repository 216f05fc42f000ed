import type { MessageInput, Rules, SendOptions } from "../dialect-client.ts";
import {
  type Artifact,
  type Fields,
  type Message,
  NO_SUCH_MEMBER,
  type Status,
  type StreamEvent,
  type Task,
  type Webhook,
} from "../neutral.ts";
import { REFUSALS, type Refusal, type RefusalName, refusalByCode } from "../refusals.ts";
import {
  asFlag,
  asList,
  asNumber,
  asObject,
  asText,
  asTimestamp,
  listOf,
  maybe,
  objectWith,
  wrong,
} from "../strict.ts";
import { readWebhook, writeWebhook } from "./push-shapes.ts";
import { readNumberedError, readPart, writePart } from "./v0-3-shapes.ts";

export const RULES_0_1: Rules = {
  waitsByDefault: false,
  canAskToWait: false,
  namesTasks: "always",
  reply: "task",
  wholeHistory: 1000,
  zeroHistory: "none",
  finishedSubscribe: "snapshot",
  repeatedCancel: "TaskNotCancelable",
  list: "none",
  undeclaredExtendedCard: undefined,
  undeclaredStreaming: "StreamingNotSupported",
  finishedSend: "InvalidTaskState",
  managesPush: false,
  push: {
    sends: "tasks",
    mediaType: "application/json",
    tokenAsBearer: true,
    afterFailure: "removed",
    fields: { create: "pushNotificationConfig.url", send: "pushNotification.url" },
    responseFields: ["url", "token", "authentication", "headers", "events"],
    schemes: "all",
  },
  requiredExtension: "InvalidParams",
  // 0.1 has no extensions; this uses the header of the next version.
  extensionsHeader: "X-A2A-Extensions",
  insteadOf: { rejected: "failed", "auth-required": "input-required" },
  messageIds: false,
  listsExtensions: false,
  referenceTaskIds: false,
  snakeCase: false,
};

const STATES = ["submitted", "working", "input-required", "completed", "canceled", "failed"] as const;

/** Requests contain the task id, and messages have no ids: a message id of the suite becomes the task id. */
export function sendParams(messageInput: MessageInput, options: SendOptions = {}): Fields & { readonly id: string } {
  const { parts, messageId, taskId, contextId, metadata: ofMessage } = messageInput;
  const { history, outputModes, metadata, push } = options;
  return {
    id: taskId ?? messageId ?? crypto.randomUUID(),
    ...(contextId !== undefined && { sessionId: contextId }),
    message: {
      role: "user",
      parts: parts.map((part) => writePart(part, "type")),
      ...(ofMessage !== undefined && { metadata: ofMessage }),
    },
    ...(outputModes !== undefined && { acceptedOutputModes: outputModes }),
    ...(push !== undefined && { pushNotification: writeWebhook(push) }),
    ...(history !== undefined && { historyLength: history }),
    ...(metadata !== undefined && { metadata }),
  };
}

export function readTask(value: unknown, path: string = "task"): Task {
  const fields = objectWith(value, path, {
    required: ["id", "sessionId", "status"],
    optional: ["artifacts", "history", "metadata"],
  });
  const { artifacts } = maybe(fields, "artifacts", asList);
  return {
    id: asText(fields["id"], `${path}.id`),
    contextId: asText(fields["sessionId"], `${path}.sessionId`),
    status: readStatus(fields["status"], `${path}.status`),
    ...(artifacts !== undefined && { artifacts: artifacts.map(readWholeArtifact) }),
    ...maybe(fields, "history", listOf(readMessage)),
    ...maybe(fields, "metadata", asObject),
  };
}

/** In a task, artifacts are ordered by number, and all are complete. */
function readWholeArtifact(value: unknown, position: number): Artifact {
  const { artifact, append, lastChunk } = readArtifact(value, `artifacts[${position}]`);
  if (artifact.artifactId !== String(position)) wrong(`artifacts[${position}]`, "has another number", value);
  return append || lastChunk ? wrong(`artifacts[${position}]`, "is a piece", value) : artifact;
}

/** A task in a notification, with the members that some receivers need. */
export function readPushed(value: unknown): StreamEvent {
  const { taskId, eventType, timestamp, ...fields } = asObject(value, "notification");
  const task = readTask(fields);
  if (taskId !== task.id) wrong("taskId", "is not that of the task", value);
  if (eventType !== "status" && eventType !== "artifact") wrong("eventType", "is no kind of event", value);
  asTimestamp(timestamp, "timestamp");
  return { kind: "task", task };
}

/** The single webhook of a task, or none. */
export function readOwner(value: unknown, taskId: string): Webhook | undefined {
  const { id, pushNotificationConfig: webhook } = asObject(value, "config");
  if (id !== taskId) wrong("id", "is not that of the task", value);
  return webhook === null ? undefined : readWebhook(webhook, "headers", "events");
}

interface Piece {
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** Artifacts are identified by number. The artifact itself says which chunk it is. */
function readArtifact(value: unknown, path: string): Piece {
  const fields = objectWith(value, path, {
    required: ["index", "parts"],
    optional: ["name", "description", "append", "lastChunk", "metadata"],
  });
  const index = asNumber(fields["index"], `${path}.index`);
  if (!Number.isInteger(index) || index < 0) wrong(`${path}.index`, "does not count", index);
  const artifact = {
    artifactId: String(index),
    parts: readParts(fields["parts"], `${path}.parts`),
    ...maybe(fields, "name", asText),
    ...maybe(fields, "description", asText),
    ...maybe(fields, "metadata", asObject),
  };
  return {
    artifact,
    append: asFlag(fields["append"] ?? false, "append"),
    lastChunk: asFlag(fields["lastChunk"] ?? false, "lastChunk"),
  };
}

function readParts(value: unknown, path: string): Message["parts"] {
  const parts = listOf((each, place) => readPart(each, place, "type"))(value, path);
  return parts.length > 0 ? parts : wrong(path, "is empty");
}

function readMessage(value: unknown, path: string): Message {
  const fields = objectWith(value, path, { required: ["role", "parts"], optional: ["metadata"] });
  const { role } = fields;
  return {
    messageId: NO_SUCH_MEMBER,
    role: role === "user" || role === "agent" ? role : wrong(`${path}.role`, "is not a role", role),
    parts: readParts(fields["parts"], `${path}.parts`),
    ...maybe(fields, "metadata", asObject),
  };
}

function readStatus(value: unknown, path: string): Status {
  const fields = objectWith(value, path, { required: ["state", "timestamp"], optional: ["message"] });
  return {
    state: STATES.find((state) => state === fields["state"]) ?? wrong(`${path}.state`, "is not a state", fields),
    ...maybe(fields, "message", readMessage),
    timestamp: asTimestamp(fields["timestamp"], `${path}.timestamp`),
  };
}

/** A status or artifact update: streams contain nothing else. */
export function readEvent(value: unknown): StreamEvent {
  const fields = objectWith(value, "event", {
    required: ["id"],
    one: ["status", "artifact"],
    optional: ["final", "metadata"],
  });
  const ids = {
    taskId: asText(fields["id"], "event.id"),
    contextId: NO_SUCH_MEMBER,
    ...maybe(fields, "metadata", asObject),
  };
  if (fields["artifact"] === undefined) {
    const status = readStatus(fields["status"], "event.status");
    return { kind: "status", ...ids, status, final: asFlag(fields["final"] ?? false, "event.final") };
  }
  if ("final" in fields) wrong("An artifact", "cannot be final", fields);
  return { kind: "artifact", ...ids, ...readArtifact(fields["artifact"], "event.artifact") };
}

/** Combines the opening of a stream, a status and each artifact, into a task. */
export function joinOpening(opening: readonly StreamEvent[]): StreamEvent {
  const artifacts = opening.flatMap((event) => (event.kind === "artifact" ? [event] : []));
  const statuses = opening.flatMap((event) => (event.kind === "status" ? [event] : []));
  const [status] = statuses;
  if (status === undefined || statuses.length > 1) return wrong("A stream", "must begin with one status", opening);
  for (const [position, { artifact, taskId, append, lastChunk }] of artifacts.entries()) {
    if (artifact.artifactId !== String(position) || append || lastChunk) wrong("An opening", "has a piece", opening);
    if (taskId !== status.taskId) wrong("An opening", "names two tasks", opening);
  }
  const task: Task = {
    id: status.taskId,
    contextId: NO_SUCH_MEMBER,
    status: status.status,
    ...(artifacts.length > 0 && { artifacts: artifacts.map(({ artifact }) => artifact) }),
    ...(status.metadata !== undefined && { metadata: status.metadata }),
  };
  return { kind: "task", task };
}

/** Error codes of 0.1 besides the standard ones. Some have another meaning in later versions. */
const OWN: readonly RefusalName[] = [
  "TaskNotFound",
  "TaskNotCancelable",
  "PushNotificationNotSupported",
  "UnsupportedOperation",
  "ContentTypeNotSupported",
  "StreamingNotSupported",
  "InvalidTaskState",
];
const AUTHENTICATION_REQUIRED = -32007;
const AUTHORIZATION_FAILED = -32008;

export function readError(value: unknown): Refusal {
  const refusal = readNumberedError(value, (code) => {
    if (code === AUTHENTICATION_REQUIRED) return "Unauthenticated";
    if (code === AUTHORIZATION_FAILED) return "PermissionDenied";
    const standard = typeof code === "number" && code <= -32600 ? refusalByCode(code) : undefined;
    return standard ?? OWN.find((name) => REFUSALS[name].code === code);
  });
  const { reason } = asObject(refusal.facts, "error.data");
  const { name } = refusal;
  // A code says less than a reason, because later errors use the nearest code.
  if (OWN.includes(name) && reason !== REFUSALS[name].reason)
    wrong("error.data.reason", `is not that of ${name}`, value);
  return refusal;
}
