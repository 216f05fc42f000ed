import type { Artifact } from "./artifact.ts";
import type { ArtifactEvent, StatusEvent, TaskEvent } from "./event.ts";
import type { ContextId, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { LargeMembers } from "./large-members.ts";
import type { Message, Role } from "./message.ts";
import { TASK_STATES, type TaskState } from "./state.ts";
import type { Task, TaskStatus } from "./task.ts";
import { SpanMetadata } from "./trace-context.ts";

/**
 * The stored form of messages, events and tasks: compact JSON without line breaks. It is created once, when something is written, and sent as it is
 * wherever the reader's dialect allows it. An event does not contain the ids of its task and context: readers of the log know them.
 */
const STORED_STATE: Readonly<Record<TaskState, string>> = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  rejected: "TASK_STATE_REJECTED",
};
const STATE_OF: ReadonlyMap<string, TaskState> = new Map(TASK_STATES.map((state) => [STORED_STATE[state], state]));
const STORED_ROLE: Readonly<Record<Role, string>> = { user: "ROLE_USER", agent: "ROLE_AGENT" };

/** As `Message`, with the role names of 1.0. */
type StoredMessage = Omit<Message, "role"> & { readonly role: string };
type StoredStatus = { readonly state: string; readonly message?: StoredMessage; readonly timestamp: string };

/** A task as JSON texts, as the store returns it and codecs send or parse it. */
export interface StoredTask {
  readonly id: TaskId;
  readonly contextId: ContextId;
  /** The seq of the log that the task reflects. */
  readonly seq: number;
  /** Also part of `status`; repeated so that readers need not parse `status`. */
  readonly state: TaskState;
  /** A JSON object, as `writeStatus` writes it. */
  readonly status: string;
  /** A JSON array. Absent: not requested. */
  readonly artifacts?: string;
  /** A JSON array. Absent: not requested. */
  readonly history?: string;
  /** A JSON object. Absent: none. */
  readonly metadata?: string;
  /** Members that are too large for one text; the texts above are then placeholders. Only if the reader set `largeBytes`. */
  readonly large?: LargeMembers;
  /** Dialect (version and binding) of the call that created the task, if known. */
  readonly dialect?: string;
  /** Time of creation in milliseconds since 1970, if known. */
  readonly createdAt?: number;
}

/** `{ messageId: "m1", role: "user", parts: [{ text: "Hi" }] }` becomes `{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"Hi"}]}`. */
export function writeMessage(message: Message): string {
  return JSON.stringify(storedMessage(message));
}

/** Reverses `writeMessage`. Only for texts that this program wrote: the shape is not checked. */
export function readMessage(body: string): Message {
  return messageOf(parse<StoredMessage>(body));
}

/**
 * `{ state: "working", timestamp: "2030-01-31T12:00:00.000Z" }` becomes
 * `{"state":"TASK_STATE_WORKING","timestamp":"2030-01-31T12:00:00.000Z"}`. `state` is always the first member; `officialJson` relies on it.
 */
export function writeStatus(status: TaskStatus): string {
  const { state, message, timestamp = "" } = status;
  // The same text as `JSON.stringify` of the whole, at a third of the cost.
  const start = `{"state":"${STORED_STATE[state]}",`;
  if (message === undefined) return `${start}"timestamp":${JSON.stringify(timestamp)}}`;
  return `${start}"message":${writeMessage(message)},"timestamp":${JSON.stringify(timestamp)}}`;
}

/** Reverses `writeStatus`. Throws an `Error` for an unknown state, which only a newer version of Palaver can have written. */
export function readStatus(body: string): TaskStatus {
  return statusOf(parse<StoredStatus>(body));
}

/**
 * A status event becomes `{"status":{…},"metadata":{…}}`, an artifact event
 * `{"artifact":{…},"append":true,"lastChunk":true,"metadata":{…}}`. Absent metadata and false flags are not written. Codecs insert ids
 * after the opening brace, so the text must begin with `{` and a member.
 */
export function writeEvent(event: TaskEvent): string {
  const { metadata } = event;
  if (event.kind === "status") return `{"status":${writeStatus(event.status)}${metadataMember(metadata)}}`;
  if (isTextChunk(event)) return writeTextChunk(event);
  const { artifact, append, lastChunk } = event;
  const text = JSON.stringify({ artifact, append: append || undefined, lastChunk: lastChunk || undefined });
  return metadata === undefined ? text : `${text.slice(0, -1)}${metadataMember(metadata)}}`;
}

/** The same text as `writeStatus` of an event's status. `body`: the event as `writeEvent` wrote it, out of which the text is cut where the rest is known. */
export function statusIn(body: string | undefined, { status, metadata }: StatusEvent): string {
  if (body === undefined) return writeStatus(status);
  if (metadata !== undefined && !SpanMetadata.isIn(metadata)) return writeStatus(status);
  return body.slice('{"status":'.length, -1 - metadataMember(metadata).length);
}

/** Whether the event only appends one text part, as most events of streams do. */
function isTextChunk({ artifact, append }: ArtifactEvent): boolean {
  if (!append || artifact.parts.length !== 1) return false;
  if (artifact.name !== undefined || artifact.description !== undefined) return false;
  if (artifact.extensions !== undefined || artifact.metadata !== undefined) return false;
  const [part] = artifact.parts;
  return (
    part?.text !== undefined &&
    part.mediaType === undefined &&
    part.filename === undefined &&
    part.metadata === undefined
  );
}

/** The same text as `JSON.stringify`, at half the cost. */
function writeTextChunk({ artifact, lastChunk, metadata }: ArtifactEvent): string {
  const text = JSON.stringify(artifact.parts[0]?.text);
  const flags = lastChunk ? ',"append":true,"lastChunk":true' : ',"append":true';
  const start = `${textChunkStart(artifact.artifactId)}${text}}]}`;
  return metadata === undefined ? `${start}${flags}}` : `${start}${flags}${metadataMember(metadata)}}`;
}

/** How the text of an event begins that appends one text part to this artifact, up to the text itself: for {@link textOfChunk}. */
export function textChunkStart(artifactId: string): string {
  return `{"artifact":{"artifactId":${JSON.stringify(artifactId)},"parts":[{"text":`;
}

const TEXT_CHUNK_END = '}]},"append":true}';

/**
 * The text that an event appends, at a fraction of the cost of `readEvent`. `start`: of {@link textChunkStart}. `undefined`: the event is another one, or
 * has more than a text; `readEvent` reads it.
 */
export function textOfChunk(body: string, start: string): string | undefined {
  if (!body.startsWith(start) || !body.endsWith(TEXT_CHUNK_END)) return undefined;
  const text = body.slice(start.length + 1, -TEXT_CHUNK_END.length - 1);
  if (!text.includes('"') && !text.includes("\\")) return text;
  try {
    return parse<string>(`"${text}"`);
  } catch {
    // It ends within another part.
    return undefined;
  }
}

function metadataMember(metadata: JsonObject | undefined): string {
  return metadata === undefined ? "" : `,"metadata":${SpanMetadata.jsonOf(metadata)}`;
}

/** Reverses `writeEvent`; the member `status` or `artifact` tells the kind. Throws an `Error` for a text without either. */
export function readEvent(body: string): TaskEvent {
  const stored = parse<{
    readonly status?: StoredStatus;
    readonly artifact?: Artifact;
    readonly append?: boolean;
    readonly lastChunk?: boolean;
    readonly metadata?: JsonObject;
  }>(body);
  const metadata = stored.metadata === undefined ? {} : { metadata: stored.metadata };
  if (stored.status !== undefined) return { kind: "status", status: statusOf(stored.status), ...metadata };
  if (stored.artifact === undefined) throw new Error("Stored event has neither a status nor an artifact.");
  return {
    kind: "artifact",
    artifact: stored.artifact,
    append: stored.append === true,
    lastChunk: stored.lastChunk === true,
    ...metadata,
  };
}

/** Parses the texts of a task. Large members stay the placeholders that the texts contain. */
export function readTask(stored: StoredTask): Task {
  return {
    id: stored.id,
    contextId: stored.contextId,
    status: readStatus(stored.status),
    ...(stored.artifacts !== undefined && { artifacts: parse<Artifact[]>(stored.artifacts) }),
    ...(stored.history !== undefined && { history: parse<StoredMessage[]>(stored.history).map(messageOf) }),
    ...(stored.metadata !== undefined && { metadata: parse<JsonObject>(stored.metadata) }),
  };
}

function storedMessage(message: Message): StoredMessage {
  return { ...message, role: STORED_ROLE[message.role] };
}

function messageOf(stored: StoredMessage): Message {
  return { ...stored, role: stored.role === STORED_ROLE.user ? "user" : "agent" };
}

function statusOf(stored: StoredStatus): TaskStatus {
  const state = STATE_OF.get(stored.state);
  if (state === undefined) throw new Error(`Stored status has the unknown state ${JSON.stringify(stored.state)}.`);
  return {
    state,
    ...(stored.message !== undefined && { message: messageOf(stored.message) }),
    timestamp: stored.timestamp,
  };
}

function parse<T>(text: string): T {
  // Safe cast: only texts written by this file are read.
  return JSON.parse(text) as T;
}
