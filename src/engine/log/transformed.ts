import type { TaskEvent } from "../../protocol/event.ts";

/** What a transform made of an event, with all that it may not change as it was. Throws where that cannot be. */
export function transformed(before: TaskEvent, after: TaskEvent): TaskEvent {
  if (before.kind === "status" && after.kind === "status" && before.status.state === after.status.state) {
    const { timestamp, message } = before.status;
    const said = after.status.message;
    // Ids stay as they are, whatever the transform made of them.
    const kept =
      message === undefined || said === undefined
        ? said
        : { ...message, parts: said.parts, ...(said.metadata !== undefined && { metadata: said.metadata }) };
    return {
      ...after,
      status: { state: before.status.state, ...(kept !== undefined && { message: kept }), timestamp },
    };
  }
  if (
    before.kind === "artifact" &&
    after.kind === "artifact" &&
    before.artifact.artifactId === after.artifact.artifactId
  ) {
    return { ...after, append: before.append, lastChunk: before.lastChunk };
  }
  throw new Error("transform() may not change an event's kind, state or artifact id.");
}
