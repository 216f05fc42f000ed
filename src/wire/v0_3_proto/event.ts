import type { TaskEvent } from "../../protocol/event.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { RemoteEvent } from "../client/client-codec.ts";
import type { Codec, EventPlace, EventText, StreamOpening } from "../codec.ts";
import { cachedByPlace, cachedEncoder } from "../event-text.ts";
import { textOf } from "../fields/answer-fields.ts";
import { asId, asObject, member, optionalBoolean, optionalJsonObject, type WireObject } from "../fields/fields.ts";
import { decodeRemoteMessage, messageObject } from "./message.ts";
import { artifactObject, encodeTask, isStoredForm, remote, statusObject } from "./task.ts";

/** The first frame of a stream, or the answer to a send: `{"task":…}` or `{"message":…}`. */
export function encodeOpening(opening: StreamOpening): string {
  if (opening.kind === "task") return `{"task":${encodeTask(opening.task)}}`;
  return `{"message":${JSON.stringify(messageObject(opening.message))}}`;
}

/** Encodes a later frame. */
export const encodeEvent: Codec["encodeEvent"] = cachedEncoder("0.3/proto", eventText);

const artifactBeginning = cachedByPlace((ids) => `{"artifactUpdate":{${ids},`);

/** Most events are text chunks, which are stored in this format and only need the ids. */
function eventText({ body, state }: EventText, place: EventPlace): string {
  if (state === undefined && isStoredForm(body)) return `${artifactBeginning(place)}${body.slice(1)}}`;
  return JSON.stringify(eventObject(readEvent(body), place));
}

/** Members that are false are omitted: ProtoJSON omits default values. */
function eventObject(event: TaskEvent, { taskId, contextId, final }: EventPlace): object {
  const { metadata } = event;
  if (event.kind === "status") {
    const status = statusObject(event.status);
    return { statusUpdate: { taskId, contextId, status, final: final || undefined, metadata } };
  }
  return {
    artifactUpdate: {
      taskId,
      contextId,
      artifact: artifactObject(event.artifact),
      append: event.append || undefined,
      lastChunk: event.lastChunk || undefined,
      metadata,
    },
  };
}

/** The wrapper members of frames and answers, in camelCase and in snake_case. */
const PAYLOADS = [
  ["task", "task"],
  ["message", "msg"],
  ["statusUpdate", "status_update"],
  ["artifactUpdate", "artifact_update"],
] as const;

/** The content of a frame, and the wrapper member it was in. */
export interface Payload {
  readonly name: (typeof PAYLOADS)[number][0];
  readonly value: unknown;
}

/** The content of a frame or an answer; `undefined` if it has no wrapper member. */
export function payloadOf(frame: WireObject): Payload | undefined {
  for (const [name, alias] of PAYLOADS) {
    const value = member(frame, name, alias);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

/** Decodes the content of a frame in proto style. Throws `invalid-params`. An absent `final` is false, as ProtoJSON omits it. */
export function decodeRemoteEvent({ name, value }: Payload): RemoteEvent {
  const path = `result.${name}`;
  if (name === "task") return { kind: "task", task: remote.task(value, path) };
  if (name === "message") return { kind: "message", message: decodeRemoteMessage(value, path) };
  const wire = asObject(value, path);
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  return {
    ...(name === "statusUpdate" ? decodeStatusEvent(wire, path) : decodeArtifactEvent(wire, path)),
    ...(metadata !== undefined && { metadata }),
    taskId: asId(member(wire, "taskId", "task_id"), `${path}.taskId`) as TaskId,
    contextId: textOf(member(wire, "contextId", "context_id"), `${path}.contextId`) as ContextId,
    final: optionalBoolean(member(wire, "final"), `${path}.final`) ?? false,
  };
}

function decodeStatusEvent(wire: WireObject, path: string): TaskEvent {
  return { kind: "status", status: remote.status(member(wire, "status"), `${path}.status`) };
}

function decodeArtifactEvent(wire: WireObject, path: string): TaskEvent {
  return {
    kind: "artifact",
    artifact: remote.artifact(member(wire, "artifact"), `${path}.artifact`),
    append: optionalBoolean(member(wire, "append"), `${path}.append`) ?? false,
    lastChunk: optionalBoolean(member(wire, "lastChunk", "last_chunk"), `${path}.lastChunk`) ?? false,
  };
}
