import { invalidField } from "../../protocol/error.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { writeMessage } from "../../protocol/serial.ts";
import type { RemoteEvent } from "../client/client-codec.ts";
import type { EventPlace, EventText, StreamOpening } from "../codec.ts";
import { cachedByPlace } from "../event-text.ts";
import { textOf } from "../fields/answer-fields.ts";
import { asObject, member, optionalBoolean, optionalJsonObject, type WireObject } from "../fields/fields.ts";
import { decodeRemoteMessage } from "./message.ts";
import { encodeTask, remote } from "./task.ts";

/** JSON-RPC, REST and webhooks of 1.0 share the cached text. */
const CACHE_KEY = "1.0";

/** The first frame must be a task or the only message (A2A 1.0 §3.1.2): `{"task":{…}}` or `{"message":{…}}`. */
export function encodeOpening(opening: StreamOpening): string {
  return opening.kind === "task"
    ? `{"task":${encodeTask(opening.task)}}`
    : `{"message":${writeMessage(opening.message)}}`;
}

/** The text of an event up to the members of the stored event. */
export const beginningsOf: (place: EventPlace) => { readonly artifact: string; readonly status: string } =
  cachedByPlace((ids) => ({
    artifact: `{"artifactUpdate":{${ids},`,
    status: `{"statusUpdate":{${ids},`,
  }));

/**
 * Inserts the ids into the stored text: `{"status":{…}}` becomes `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{…}}}`. 1.0 has
 * no member `final`, so each event has one text.
 */
export function encodeEvent(event: EventText, place: EventPlace): string {
  const { encoded } = event;
  const known = encoded?.get(CACHE_KEY);
  if (known !== undefined) return known;
  const { artifact, status } = beginningsOf(place);
  const text = `${event.state === undefined ? artifact : status}${event.body.slice(1)}}`;
  encoded?.set(CACHE_KEY, text);
  return text;
}

/** Decodes a frame, wrapped in a member such as `statusUpdate`, or bare. */
export function decodeRemoteEvent(value: unknown): RemoteEvent {
  const wire = asObject(value, "event");
  const task = member(wire, "task");
  if (task !== undefined) return { kind: "task", task: remote.task(task, "task") };
  const message = member(wire, "message");
  if (message !== undefined) return { kind: "message", message: decodeRemoteMessage(message, "message") };
  const status = member(wire, "statusUpdate", "status_update");
  if (status !== undefined) return decodeStatusUpdate(asObject(status, "statusUpdate"), "statusUpdate");
  const artifact = member(wire, "artifactUpdate", "artifact_update");
  if (artifact !== undefined) return decodeArtifactUpdate(asObject(artifact, "artifactUpdate"), "artifactUpdate");
  return decodeBare(wire);
}

/** Recognises a bare frame by its members; `kind` of other versions is not needed. */
function decodeBare(wire: WireObject): RemoteEvent {
  if (member(wire, "artifact") !== undefined) return decodeArtifactUpdate(wire, "artifactUpdate");
  if (member(wire, "status") !== undefined) {
    const isUpdate = member(wire, "taskId", "task_id") !== undefined;
    return isUpdate ? decodeStatusUpdate(wire, "statusUpdate") : { kind: "task", task: remote.task(wire, "task") };
  }
  if (member(wire, "parts") !== undefined) return { kind: "message", message: decodeRemoteMessage(wire, "message") };
  throw invalidField("event", "must have one of task, message, statusUpdate and artifactUpdate");
}

type Place = Pick<Extract<RemoteEvent, { taskId: TaskId }>, "taskId" | "contextId" | "final" | "metadata">;

function decodeStatusUpdate(wire: WireObject, path: string): RemoteEvent {
  const status = remote.status(member(wire, "status"), `${path}.status`);
  return { kind: "status", status, ...decodePlace(wire, path) };
}

function decodeArtifactUpdate(wire: WireObject, path: string): RemoteEvent {
  return {
    kind: "artifact",
    artifact: remote.artifact(member(wire, "artifact"), `${path}.artifact`),
    append: optionalBoolean(member(wire, "append"), `${path}.append`) ?? false,
    lastChunk: optionalBoolean(member(wire, "lastChunk", "last_chunk"), `${path}.lastChunk`) ?? false,
    ...decodePlace(wire, path),
  };
}

function decodePlace(wire: WireObject, path: string): Place {
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  return {
    taskId: textOf(member(wire, "taskId", "task_id"), `${path}.taskId`) as TaskId,
    contextId: textOf(member(wire, "contextId", "context_id"), `${path}.contextId`) as ContextId,
    // 1.0 has no `final` and closes the stream instead; agents that send it are understood.
    final: member(wire, "final") === true,
    ...(metadata !== undefined && { metadata }),
  };
}
