import { isoTime } from "../../internal/iso-time.ts";
import { uuidv7 } from "../../internal/uuid.ts";
import type { ArtifactEvent, StatusEvent } from "../../protocol/event.ts";
import type { ArtifactId, MessageId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { TaskState } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { TaskRef } from "../api.ts";
import type { StatusOptions } from "./writer-contract.ts";

export interface NewStatus {
  readonly state: TaskState;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly message: Message | undefined;
  readonly metadata: JsonObject | undefined;
}

export function statusEvent({ state, now, message, metadata }: NewStatus): StatusEvent {
  return {
    kind: "status",
    status: { state, ...(message !== undefined && { message }), timestamp: isoTime(now) },
    ...(metadata !== undefined && { metadata }),
  };
}

/** The agent's message of a status event. */
export function statusMessage(
  task: TaskRef,
  parts: readonly Part[],
  { messageMetadata: metadata, referenceTaskIds }: Pick<StatusOptions, "messageMetadata" | "referenceTaskIds">,
): Message {
  return {
    // Safe: the sender of a message chooses its id, and this message is sent by the engine.
    messageId: uuidv7() as MessageId,
    role: "agent",
    parts,
    contextId: task.contextId,
    taskId: publicTaskId(task.id),
    ...(referenceTaskIds !== undefined && { referenceTaskIds }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** A chunk that marks an artifact as complete and adds no content. */
export function closingChunk(artifactId: ArtifactId): ArtifactEvent {
  return { kind: "artifact", artifact: { artifactId, parts: [{ text: "" }] }, append: true, lastChunk: true };
}
