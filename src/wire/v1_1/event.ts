import { generationOf } from "../../protocol/generation.ts";
import type { RemoteEvent } from "../client/client-codec.ts";
import type { EventPlace, EventText, StreamOpening } from "../codec.ts";
import { isWireObject, member, type WireObject } from "../fields/fields.ts";
import {
  beginningsOf,
  decodeRemoteEvent as decodeOlder,
  encodeEvent as encodeOlder,
  encodeOpening as encodeOlderOpening,
} from "../v1_0/event.ts";
import { generationIn } from "./generation.ts";
import { encodeTask } from "./task.ts";

/** JSON-RPC, REST and webhooks of 1.1 share the cached text. */
const CACHE_KEY = "1.1";

export function encodeOpening(opening: StreamOpening): string {
  return opening.kind === "task" ? `{"task":${encodeTask(opening.task)}}` : encodeOlderOpening(opening);
}

/** As in 1.0, with `generation` after the ids. */
export function encodeEvent(event: EventText, place: EventPlace): string {
  const { encoded, seq } = event;
  if (seq === undefined) return encodeOlder(event, place);
  const known = encoded?.get(CACHE_KEY);
  if (known !== undefined) return known;
  const { artifact, status } = beginningsOf(place);
  const beginning = event.state === undefined ? artifact : status;
  const text = `${beginning}"generation":"${generationOf(seq)}",${event.body.slice(1)}}`;
  encoded?.set(CACHE_KEY, text);
  return text;
}

/** As in 1.0, with the generation of the task or event, if the agent sends it. */
export function decodeRemoteEvent(value: unknown): RemoteEvent {
  const event = decodeOlder(value);
  if (event.kind === "message" || !isWireObject(value)) return event;
  const generation = generationIn(payloadOf(value));
  return event.kind === "task" ? { kind: "task", task: { ...event.task, ...generation } } : { ...event, ...generation };
}

/** The task or event of a frame, which may be bare. */
function payloadOf(wire: WireObject): WireObject {
  const payload =
    member(wire, "task") ??
    member(wire, "statusUpdate", "status_update") ??
    member(wire, "artifactUpdate", "artifact_update");
  return isWireObject(payload) ? payload : wire;
}
