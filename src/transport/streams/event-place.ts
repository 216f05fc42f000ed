import type { TaskStream } from "../../server/task-stream.ts";
import type { Codec, EventPlace } from "../../wire/codec.ts";

/** The properties that all events of a stream share; `undefined` for a stream of one message. */
export function placeOf({ opening, artifacts }: TaskStream, codec: Codec): EventPlace | undefined {
  if (opening.kind !== "task") return undefined;
  const { id, contextId, dialect } = opening.task;
  const state = codec.streamState?.(opening.task, artifacts);
  return { taskId: id, contextId, final: false, origin: dialect, state };
}
