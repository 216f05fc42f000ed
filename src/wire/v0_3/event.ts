import { invalidField } from "../../protocol/error.ts";
import type { ArtifactEvent, StatusEvent, TaskEvent } from "../../protocol/event.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { readEvent } from "../../protocol/serial.ts";
import { isInterrupted } from "../../protocol/state.ts";
import type { TaskStatus } from "../../protocol/task.ts";
import type { RemoteEvent } from "../client/client-codec.ts";
import type { Codec, EventPlace, EventText, StreamOpening } from "../codec.ts";
import { cachedByPlace, cachedEncoder } from "../event-text.ts";
import { textOf } from "../fields/answer-fields.ts";
import {
  asObject,
  isWireObject,
  member,
  optionalBoolean,
  optionalJsonObject,
  type WireObject,
} from "../fields/fields.ts";
import { textChunkIn } from "../text-chunk.ts";
import { OFFICIAL, type OutputFormat } from "./format.ts";
import { decodeRemoteMessage, encodeMessage } from "./message.ts";
import { artifactObject, encodeTask, remote, statusObject } from "./task.ts";

/** The first frame, bare: `kind` distinguishes task and message. */
export function encodeOpening(opening: StreamOpening, format?: OutputFormat): string {
  return opening.kind === "task" ? encodeTask(opening.task, format) : encodeMessage(opening.message, format);
}

/** Encodes later frames, bare and cached. */
export function eventEncoder(format: OutputFormat): Codec["encodeEvent"] {
  return cachedEncoder(format.name, (event, place) => eventText(event, place, format));
}

/** Encodes a later frame in the official format. */
export const encodeEvent: Codec["encodeEvent"] = eventEncoder(OFFICIAL);

const artifactBeginning = cachedByPlace((ids) => `{"kind":"artifact-update",${ids},`);

function eventText({ body }: EventText, place: EventPlace, format: OutputFormat): string {
  const chunk = textChunkIn(body);
  if (chunk !== undefined) {
    const at = chunk.textFrom - '"text":"'.length;
    return `${artifactBeginning(place)}${body.slice(1, at)}"kind":"text",${body.slice(at)}`;
  }
  return JSON.stringify(eventObject(readEvent(body), place, format));
}

/**
 * A status becomes `{"kind":"status-update","taskId","contextId","status","final"}`, an artifact `{"kind":"artifact-update",…,"append"}`
 * (A2A 0.3 §7.2.2, §7.2.3).
 */
export function eventObject(
  event: TaskEvent,
  { taskId, contextId, final }: EventPlace,
  format: OutputFormat = OFFICIAL,
): object {
  const { metadata } = event;
  if (event.kind === "status") {
    const status = statusObject(format.references ? withReferences(event) : event.status, format);
    return { kind: "status-update", taskId, contextId, status, final, metadata };
  }
  return {
    kind: "artifact-update",
    taskId,
    contextId,
    artifact: artifactObject(event.artifact, format),
    append: event.append || undefined,
    lastChunk: event.lastChunk || undefined,
    metadata,
  };
}

/** Copies `referenceTaskIds` from the event's metadata to the status message, unless the message has its own. */
function withReferences({ status, metadata }: StatusEvent): TaskStatus {
  const references = metadata?.["referenceTaskIds"];
  const { message } = status;
  if (message === undefined || message.referenceTaskIds !== undefined || !isListOfTexts(references)) return status;
  return { ...status, message: { ...message, referenceTaskIds: references as readonly TaskId[] } };
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}

/** The wrapper member of each kind in REST. */
const WRAPPERS = {
  task: "task",
  message: "message",
  "status-update": "statusUpdate",
  "artifact-update": "artifactUpdate",
} as const;

type Kind = keyof typeof WRAPPERS;
const KINDS = ["task", "message", "status-update", "artifact-update"] as const satisfies readonly Kind[];

/** Decodes one frame: bare with `kind`, bare and recognised by its members, or wrapped. */
export function decodeRemoteEvent(value: unknown): RemoteEvent {
  const frame = asObject(value, "result");
  const kind = bareKind(frame);
  if (kind !== undefined) return decodeNamed(kind, frame, "result");
  const wrapped = KINDS.find((candidate) => member(frame, WRAPPERS[candidate]) !== undefined);
  if (wrapped === undefined) throw invalidField("result", "must be a task, a message or an update of a task");
  return decodeNamed(wrapped, frame[WRAPPERS[wrapped]], `result.${WRAPPERS[wrapped]}`);
}

/** `kind` if it is a known one, else by the members: an event has `taskId`, a task has only `id`. */
function bareKind(frame: WireObject): Kind | undefined {
  const named = member(frame, "kind");
  const kind = KINDS.find((known) => known === named);
  if (kind !== undefined) return kind;
  if (member(frame, "artifact") !== undefined) return "artifact-update";
  if (member(frame, "status") !== undefined) return member(frame, "taskId") === undefined ? "task" : "status-update";
  return member(frame, "parts") === undefined ? undefined : "message";
}

function decodeNamed(kind: Kind, value: unknown, path: string): RemoteEvent {
  switch (kind) {
    case "task":
      return { kind, task: remote.task(value, path) };
    case "message":
      return { kind, message: decodeRemoteMessage(value, path) };
    case "status-update":
    case "artifact-update":
      return decodeUpdate(kind, asObject(value, path), path);
  }
}

/** `moreFollows` only if the agent explicitly wrote `final: false`: an absent `final` says nothing about the rest of the stream. */
function decodeUpdate(kind: "status-update" | "artifact-update", wire: WireObject, path: string): RemoteEvent {
  const event = kind === "status-update" ? decodeStatusEvent(wire, path) : decodeArtifactEvent(wire, path);
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  const final = optionalBoolean(member(wire, "final"), `${path}.final`);
  return {
    ...event,
    ...(metadata !== undefined && { metadata }),
    taskId: textOf(member(wire, "taskId"), `${path}.taskId`) as TaskId,
    contextId: textOf(member(wire, "contextId"), `${path}.contextId`) as ContextId,
    final: final ?? false,
    ...(final === false && event.kind === "status" && isInterrupted(event.status.state) && { moreFollows: true }),
  };
}

function decodeStatusEvent(wire: WireObject, path: string): StatusEvent {
  return { kind: "status", status: remote.status(member(wire, "status"), `${path}.status`) };
}

function decodeArtifactEvent(wire: WireObject, path: string): ArtifactEvent {
  const { artifact, append } = member(wire, "artifact") === undefined ? numberedChunk(wire) : wire;
  return {
    kind: "artifact",
    artifact: remote.artifact(artifact, `${path}.artifact`),
    append: optionalBoolean(append ?? undefined, `${path}.append`) ?? false,
    lastChunk: optionalBoolean(member(wire, "lastChunk"), `${path}.lastChunk`) ?? false,
  };
}

/** Some agents send a single `part`, and the artifact's `index` instead of its id. */
function numberedChunk({ index, part }: WireObject): WireObject {
  if (!isWireObject(part)) return {};
  return {
    artifact: { artifactId: typeof index === "number" ? String(index) : "0", parts: [part] },
    append: part["append"],
  };
}
