import { writeMessage } from "../../protocol/serial.ts";
import type { EventPlace, EventText, StreamOpening } from "../codec.ts";
import { encodeTask } from "./task.ts";

const SPELLING = "1.0";

export function encodeOpening(opening: StreamOpening): string {
  return opening.kind === "task"
    ? `{"task":${encodeTask(opening.task)}}`
    : `{"message":${writeMessage(opening.message)}}`;
}

/** How the events of one place begin: the same for all of them. */
interface Beginnings {
  readonly artifact: string;
  readonly status: string;
}

const BEGINNINGS = new WeakMap<EventPlace, Beginnings>();

function beginningsOf(place: EventPlace): Beginnings {
  const known = BEGINNINGS.get(place);
  if (known !== undefined) return known;
  const ids = `"taskId":${JSON.stringify(place.taskId)},"contextId":${JSON.stringify(place.contextId)},`;
  const made = { artifact: `{"artifactUpdate":{${ids}`, status: `{"statusUpdate":{${ids}` };
  BEGINNINGS.set(place, made);
  return made;
}

/** The stored text with the ids put in front. Whether the stream ends with it is not written in this version. */
export function encodeEvent(event: EventText, place: EventPlace): string {
  const { encoded } = event;
  const known = encoded?.get(SPELLING);
  if (known !== undefined) return known;
  const { artifact, status } = beginningsOf(place);
  const text = `${event.state === undefined ? artifact : status}${event.body.slice(1)}}`;
  encoded?.set(SPELLING, text);
  return text;
}
