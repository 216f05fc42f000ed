import { invalidField } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { asArray, asId, asObject, member, optionalId, optionalJsonObject, optionalStrings } from "../fields.ts";
import { decodePart } from "./part.ts";

const MAX_PARTS = 1000;

/** A message from a caller. Its role must be the user's: an agent's turns are written by the agent alone. */
export function decodeMessage(value: unknown, path: string): Message {
  if (value === undefined) throw invalidField(path, "is required");
  const wire = asObject(value, path);
  const messageId = asId(member(wire, "messageId", "message_id"), `${path}.messageId`);
  decodeUserRole(member(wire, "role"), `${path}.role`);
  const parts = asArray(member(wire, "parts") ?? [], `${path}.parts`, MAX_PARTS);
  if (parts.length === 0) throw invalidField(`${path}.parts`, "must have at least one part");
  const contextId = optionalId(member(wire, "contextId", "context_id"), `${path}.contextId`);
  const taskId = optionalId(member(wire, "taskId", "task_id"), `${path}.taskId`);
  const references = optionalStrings(
    member(wire, "referenceTaskIds", "reference_task_ids"),
    `${path}.referenceTaskIds`,
  );
  const extensions = optionalStrings(member(wire, "extensions"), `${path}.extensions`);
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  // Ids are branded here, where they enter.
  return {
    messageId: messageId as MessageId,
    role: "user",
    parts: parts.map((part, index) => decodePart(part, `${path}.parts[${index}]`)),
    ...(contextId !== undefined && { contextId: contextId as ContextId }),
    ...(taskId !== undefined && { taskId: taskId as TaskId }),
    ...(references !== undefined && references.length > 0 && { referenceTaskIds: references as TaskId[] }),
    ...(extensions !== undefined && extensions.length > 0 && { extensions }),
    ...(metadata !== undefined && { metadata }),
  };
}

function decodeUserRole(value: unknown, path: string): void {
  if (value === "ROLE_USER" || value === 1) return;
  if (value === undefined || value === "ROLE_UNSPECIFIED" || value === 0) throw invalidField(path, "is required");
  if (value === "ROLE_AGENT" || value === 2) throw invalidField(path, "must be ROLE_USER in a message from a caller");
  throw invalidField(path, "must be ROLE_USER");
}
