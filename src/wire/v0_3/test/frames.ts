import fc from "fast-check";
import type { TaskEvent } from "../../../protocol/event.ts";
import { writeEvent } from "../../../protocol/serial.ts";
import type { Codec, EventPlace, EventText, StreamOpening } from "../../codec.ts";
import { contextId, taskId } from "./models.ts";

/** An event as it is stored in the log. */
export function storedEvent(event: TaskEvent, encoded?: EventText["encoded"]): EventText {
  return { body: writeEvent(event), encoded, ...(event.kind === "status" && { state: event.status.state }) };
}

export const place: fc.Arbitrary<EventPlace> = fc.record({ taskId, contextId, final: fc.boolean() });

/** The first frame of a stream. */
export function openingFrame(codec: Codec, opening: StreamOpening): unknown {
  const text = codec.encodeOpening(opening);
  if (typeof text !== "string") throw new Error("The stream begins with several frames.");
  return JSON.parse(text);
}
