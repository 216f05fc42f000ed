import type { TaskEvent } from "../../protocol/event.ts";

/**
 * Returns the event that the server's `transform` made, with the members that it may not change as they were: times, ids of messages, `append`
 * and `lastChunk`. Throws an `Error` if it changed the kind of the event, the state or the artifact id.
 */
export function acceptTransformed(original: TaskEvent, changed: TaskEvent): TaskEvent {
  if (original.kind === "status" && changed.kind === "status" && original.status.state === changed.status.state) {
    const { state, timestamp, message: before } = original.status;
    const { message: after } = changed.status;
    const message =
      before === undefined || after === undefined
        ? after
        : { ...before, parts: after.parts, ...(after.metadata !== undefined && { metadata: after.metadata }) };
    return { ...changed, status: { state, ...(message !== undefined && { message }), timestamp } };
  }
  if (
    original.kind === "artifact" &&
    changed.kind === "artifact" &&
    original.artifact.artifactId === changed.artifact.artifactId
  ) {
    return { ...changed, append: original.append, lastChunk: original.lastChunk };
  }
  throw new Error("transform() may not change an event's kind, state or artifact id.");
}
