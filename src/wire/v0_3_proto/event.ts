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

/** A first frame, and the answer to a send: whatever it is, in the member named after it. */
export function encodeOpening(opening: StreamOpening): string {
  if (opening.kind === "task") return `{"task":${encodeTask(opening.task)}}`;
  return `{"message":${JSON.stringify(messageObject(opening.message))}}`;
}

/** A later frame. */
export const encodeEvent: Codec["encodeEvent"] = cachedEncoder("0.3/proto", eventText);

const artifactBeginning = cachedByPlace((ids) => `{"artifactUpdate":{${ids},`);

/** Streams are made of pieces of text, which only need the ids put in front. */
function eventText({ body, state }: EventText, place: EventPlace): string {
  if (state === undefined && isStoredForm(body)) return `${artifactBeginning(place)}${body.slice(1)}}`;
  return JSON.stringify(eventObject(readEvent(body), place));
}

/** What is false is left out, as the style has it with all defaults. */
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

/** The members one of which holds what a frame or an answer carries, each with its name in the definition. */
const PAYLOADS = [
  ["task", "task"],
  ["message", "msg"],
  ["statusUpdate", "status_update"],
  ["artifactUpdate", "artifact_update"],
] as const;

export interface Payload {
  readonly name: (typeof PAYLOADS)[number][0];
  readonly value: unknown;
}

/** What a frame or an answer holds; `undefined` if it is not wrapped in such a member. */
export function payloadOf(frame: WireObject): Payload | undefined {
  for (const [name, alias] of PAYLOADS) {
    const value = member(frame, name, alias);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

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
