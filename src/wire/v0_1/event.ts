import type { Artifact } from "../../protocol/artifact.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import { readEvent, readTask } from "../../protocol/serial.ts";
import type { RemoteEvent } from "../client/client-codec.ts";
import type { EventPlace, EventText, NamedText, StreamOpening } from "../codec.ts";
import { asObject, isWireObject, member, type WireObject } from "../fields/fields.ts";
import { decodeRemoteEvent as decodeNewer } from "../v0_3/event.ts";
import { ArtifactNumbers } from "./artifact-numbers.ts";
import {
  artifactObject,
  decodeRemoteTask,
  metadataObject,
  newerArtifact,
  newerStatus,
  repliedStatus,
  repliedTaskId,
  statusObject,
} from "./task.ts";

/** A format of events: that of 0.1, or the union that clients of 0.1 and of a later version can read. */
export interface EventFormat {
  /** Key of the cached texts; unique per format. */
  readonly name: string;
  /** `index`: the number of the event's artifact. */
  eventObject(event: TaskEvent, place: EventPlace, index: number): object;
}

/** The events of A2A 0.1 §7.2.2 and §7.2.3. */
export const EVENT_FORMAT: EventFormat = { name: "0.1", eventObject };

/**
 * A status becomes `{"id":"t1","status":{…},"final":false}`; an artifact becomes `{"id":"t1","artifact":{"parts":[…],"index":0,"append":true}}`,
 * with the flags of the chunk inside the artifact (A2A 0.1 §6.7).
 */
function eventObject(event: TaskEvent, { taskId, final }: EventPlace, index: number): object {
  const { metadata } = event;
  if (event.kind === "status") {
    return { id: taskId, status: statusObject(event.status), final, metadata: metadataObject(metadata) };
  }
  const { artifact, append, lastChunk } = event;
  return { id: taskId, artifact: artifactObject(artifact, { index, append, lastChunk }), metadata };
}

/** The value of `event:` in a frame. */
export function eventName({ state }: Pick<EventText, "state">): "status" | "artifact" {
  return state === undefined ? "artifact" : "status";
}

/**
 * The first frames of a stream. 0.1 streams cannot contain a task, so one frame has the status and one frame each artifact. If nothing
 * follows, the status comes last, because clients stop reading at `final: true`.
 */
export function encodeOpening(opening: StreamOpening, format: EventFormat): readonly NamedText[] {
  if (opening.kind === "message") {
    const { message } = opening;
    const event = { id: repliedTaskId(message), status: repliedStatus(message), final: true };
    return [{ name: "status", text: JSON.stringify(event) }];
  }
  const { id, contextId, status, artifacts = [], metadata } = readTask(opening.task);
  const place: EventPlace = { taskId: id, contextId, final: opening.final === true };
  const frame = (event: TaskEvent, index: number): NamedText => ({
    name: event.kind,
    text: JSON.stringify(format.eventObject(event, place, index)),
  });
  const statusFrame = frame({ kind: "status", status, ...(metadata !== undefined && { metadata }) }, 0);
  const artifactFrames = artifacts.map((artifact, index) =>
    frame({ kind: "artifact", artifact, append: false, lastChunk: false }, index),
  );
  return place.final ? [...artifactFrames, statusFrame] : [statusFrame, ...artifactFrames];
}

/**
 * A later frame. The text of a status depends on `final`, that of an artifact on its number. Without `ArtifactNumbers` as stream state, every
 * artifact has the number 0, the default of 0.1.
 */
export function encodeEvent(event: EventText, place: EventPlace, format: EventFormat): string {
  const { body, encoded, state } = event;
  const index = state === undefined ? numberOf(body, place) : 0;
  const key = `${format.name} ${state === undefined ? index : place.final}`;
  const known = encoded?.get(key);
  if (known !== undefined) return known;
  const text = JSON.stringify(format.eventObject(readEvent(body), place, index));
  encoded?.set(key, text);
  return text;
}

/** How `writeEvent` begins the text of an artifact event. */
const BEGINS = '{"artifact":{"artifactId":"';

function numberOf(body: string, { state }: EventPlace): number {
  return state instanceof ArtifactNumbers ? state.of(artifactIdOf(body)) : 0;
}

/** Reads the id from the beginning of the text in most cases, without parsing the whole event. */
function artifactIdOf(body: string): string {
  if (body.startsWith(BEGINS)) {
    const id = body.slice(BEGINS.length, body.indexOf('"', BEGINS.length));
    if (!id.includes("\\")) return id;
  }
  // Safe: this program wrote the stored text.
  return (JSON.parse(body) as { readonly artifact: Artifact }).artifact.artifactId;
}

/** Decodes one frame: a status or artifact update. Some agents send a whole task, which 0.1 does not allow. */
export function decodeRemoteEvent(value: unknown): RemoteEvent {
  const wire = asObject(value, "result");
  if (isTask(wire)) return { kind: "task", task: decodeRemoteTask(wire, "result") };
  const event = decodeNewer(newerEvent(wire));
  if (!("moreFollows" in event)) return event;
  // In 0.1 a question ends the stream, whatever `final` says.
  const { moreFollows: _, ...read } = event;
  return read;
}

/** Only a whole task has artifacts or a history. */
function isTask(wire: WireObject): boolean {
  if (member(wire, "kind") === "task") return true;
  return (
    member(wire, "status") !== undefined && ["artifacts", "history"].some((name) => member(wire, name) !== undefined)
  );
}

/** In 0.1 `append` and `lastChunk` are members of the artifact, in later versions of the event. */
function newerEvent(wire: WireObject): WireObject {
  const artifact = isWireObject(wire["artifact"]) ? wire["artifact"] : {};
  return {
    ...wire,
    kind: kindOf(wire),
    taskId: member(wire, "taskId", "id"),
    status: newerStatus(wire["status"]),
    artifact: newerArtifact(wire["artifact"], 0),
    append: member(artifact, "append") ?? wire["append"],
    lastChunk: member(artifact, "lastChunk") ?? wire["lastChunk"],
  };
}

function kindOf(wire: WireObject): string | undefined {
  if (member(wire, "artifact") !== undefined) return "artifact-update";
  return member(wire, "status") === undefined ? undefined : "status-update";
}
