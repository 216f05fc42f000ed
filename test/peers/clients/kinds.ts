import { randomUUID } from "node:crypto";
import type * as sdk from "a2a-sdk-v0_3";
import type { JsonObject, Part } from "palaver";
import type {
  Answer,
  SeenArtifact,
  SeenCard,
  SeenEvent,
  SeenMessage,
  SeenTask,
  SendRequest,
  Webhook,
} from "../client-line.ts";

// The objects of versions 0.2 and 0.3, which have `kind`; both SDK releases have the same types for them.

export function paramsOf(request: SendRequest): sdk.MessageSendParams {
  const { content, taskId, contextId, referenceTaskIds, metadata, requestMetadata, wait, history, outputModes, push } =
    request;
  const parts: readonly Part[] = typeof content === "string" ? [{ text: content }] : content;
  return {
    message: {
      kind: "message",
      messageId: randomUUID(),
      role: "user",
      parts: parts.map(sentPart),
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
      ...(referenceTaskIds !== undefined && { referenceTaskIds: [...referenceTaskIds] }),
      ...(metadata !== undefined && { metadata }),
    },
    configuration: {
      ...(wait !== undefined && { blocking: wait }),
      ...(history !== undefined && { historyLength: history }),
      ...(outputModes !== undefined && { acceptedOutputModes: [...outputModes] }),
      ...(push !== undefined && { pushNotificationConfig: sentWebhook(push) }),
    },
    ...(requestMetadata !== undefined && { metadata: requestMetadata }),
  };
}

export function sentWebhook({ id, url, token, authentication }: Webhook): sdk.PushNotificationConfig {
  return {
    url,
    ...(id !== undefined && { id }),
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && {
      authentication: {
        schemes: [authentication.scheme],
        ...(authentication.credentials !== undefined && { credentials: authentication.credentials }),
      },
    }),
  };
}

/** Over REST, this client reads a missing value as an empty string. */
export function seenWebhook({ pushNotificationConfig }: sdk.TaskPushNotificationConfig): Webhook {
  const { id, url, token, authentication } = pushNotificationConfig;
  const [scheme] = authentication?.schemes ?? [];
  return {
    id: id || undefined,
    url,
    token: token || undefined,
    authentication:
      scheme === undefined ? undefined : { scheme, credentials: authentication?.credentials || undefined },
  };
}

/** Webhooks receive the task; the client has a type for it, and no function that reads it. */
export function seenPush(body: unknown): SeenEvent {
  if (typeof body !== "object" || body === null || !("kind" in body) || body.kind !== "task") {
    throw new Error(`This is not a task: ${JSON.stringify(body)}`);
  }
  return { kind: "task", task: seenTask(body as sdk.Task) };
}

function sentPart(part: Part): sdk.Part {
  const metadata = part.metadata === undefined ? {} : { metadata: part.metadata };
  if (part.text !== undefined) return { kind: "text", text: part.text, ...metadata };
  if (part.data !== undefined) return { kind: "data", data: part.data as JsonObject, ...metadata };
  const { mediaType, filename } = part;
  const details = {
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
  return part.raw === undefined
    ? { kind: "file", file: { uri: part.url, ...details }, ...metadata }
    : { kind: "file", file: { bytes: part.raw, ...details }, ...metadata };
}

type StreamEvent = sdk.Task | sdk.Message | sdk.TaskStatusUpdateEvent | sdk.TaskArtifactUpdateEvent;

export function seenAnswer(result: sdk.Task | sdk.Message): Answer {
  return result.kind === "message"
    ? { kind: "message", message: seenMessage(result) }
    : { kind: "task", task: seenTask(result) };
}

export async function* seenEvents(stream: AsyncIterable<StreamEvent>): AsyncIterable<SeenEvent> {
  for await (const event of stream) {
    switch (event.kind) {
      case "task":
      case "message":
        yield seenAnswer(event);
        break;
      case "status-update": {
        const { taskId, status, final } = event;
        const message = status.message === undefined ? undefined : seenMessage(status.message);
        yield { kind: "status", taskId, state: status.state, message, final };
        break;
      }
      case "artifact-update":
        yield { kind: "artifact", taskId: event.taskId, artifact: seenArtifact(event.artifact) };
        break;
    }
  }
}

export function seenTask({ id, contextId, status, artifacts = [], history = [] }: sdk.Task): SeenTask {
  return {
    id,
    contextId,
    state: status.state,
    timestamp: status.timestamp,
    message: status.message === undefined ? undefined : seenMessage(status.message),
    artifacts: artifacts.map(seenArtifact),
    history: history.map(seenMessage),
  };
}

function seenMessage({ messageId, role, parts, taskId, contextId, metadata }: sdk.Message): SeenMessage {
  return {
    messageId,
    role,
    parts: parts.map(seenPart),
    taskId,
    contextId,
    metadata: metadata as JsonObject | undefined,
  };
}

function seenArtifact({ artifactId, name, description, parts, metadata }: sdk.Artifact): SeenArtifact {
  return { artifactId, name, description, parts: parts.map(seenPart), metadata: metadata as JsonObject | undefined };
}

function seenPart(part: sdk.Part): Part {
  const metadata = part.metadata === undefined ? {} : { metadata: part.metadata as JsonObject };
  if (part.kind === "text") return { text: part.text, ...metadata };
  if (part.kind === "data") return { data: part.data as JsonObject, ...metadata };
  const { file } = part;
  const details = {
    ...(file.mimeType !== undefined && file.mimeType !== "" && { mediaType: file.mimeType }),
    ...(file.name !== undefined && { filename: file.name }),
    ...metadata,
  };
  return "uri" in file ? { url: file.uri, ...details } : { raw: file.bytes, ...details };
}

export function seenCard({
  name,
  description,
  version,
  capabilities,
  ...card
}: Omit<sdk.AgentCard, "protocolVersion">): SeenCard {
  return {
    name,
    description,
    version,
    streaming: capabilities.streaming ?? false,
    skills: card.skills.map(({ id }) => id),
    inputModes: card.defaultInputModes,
    extensions: (capabilities.extensions ?? []).map(({ uri }) => uri),
    schemes: Object.fromEntries(Object.entries(card.securitySchemes ?? {}).map(([key, { type }]) => [key, type])),
    security: card.security ?? [],
  };
}
