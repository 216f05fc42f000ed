import { writeMessage } from "../../protocol/serial.ts";
import type { EventPlace, EventText, StreamOpening } from "../codec.ts";
import { encodeTask } from "./task.ts";

const SPELLING = "1.0";

export function encodeOpening(opening: StreamOpening): string {
  return opening.kind === "task"
    ? `{"task":${encodeTask(opening.task)}}`
    : `{"message":${writeMessage(opening.message)}}`;
}

/** The stored text with the ids put in front. Whether the stream ends with it is not written in this version. */
export function encodeEvent(event: EventText, place: EventPlace): string {
  const { encoded } = event;
  const known = encoded?.get(SPELLING);
  if (known !== undefined) return known;
  const member = event.state === undefined ? "artifactUpdate" : "statusUpdate";
  const ids = `"taskId":${JSON.stringify(place.taskId)},"contextId":${JSON.stringify(place.contextId)}`;
  const text = `{"${member}":{${ids},${event.body.slice(1)}}`;
  encoded?.set(SPELLING, text);
  return text;
}
