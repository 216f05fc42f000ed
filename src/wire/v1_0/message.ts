import { invalidField } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message, Role } from "../../protocol/message.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asArray, asId, asObject, member, optionalJsonObject } from "../fields/fields.ts";
import { decodeLinks, SNAKE_CASE } from "../fields/message-links.ts";
import { decodePart, decodeRemotePart } from "./part.ts";

/** Maximum number of parts in a message of a caller. */
const MAX_PARTS = 1000;

/** Decodes a message from a caller. The role must be `user`: only the agent itself writes messages with the role `agent`. */
export function decodeMessage(value: unknown, path: string): Message {
  if (value === undefined) throw invalidField(path, "is required");
  const wire = asObject(value, path);
  const messageId = asId(member(wire, "messageId", "message_id"), `${path}.messageId`);
  decodeUserRole(member(wire, "role"), `${path}.role`);
  const parts = asArray(member(wire, "parts") ?? [], `${path}.parts`, MAX_PARTS);
  if (parts.length === 0) throw invalidField(`${path}.parts`, "must have at least one part");
  const links = decodeLinks(wire, path, SNAKE_CASE);
  return {
    messageId: messageId as MessageId,
    role: "user",
    parts: parts.map((part, index) => decodePart(part, `${path}.parts[${index}]`)),
    ...links,
  };
}

/** ProtoJSON readers accept enums by name and by number. */
function decodeUserRole(value: unknown, path: string): void {
  if (value === "ROLE_USER" || value === 1) return;
  if (value === undefined || value === "ROLE_UNSPECIFIED" || value === 0) throw invalidField(path, "is required");
  if (value === "ROLE_AGENT" || value === 2) throw invalidField(path, "must be ROLE_USER in a message from a caller");
  throw invalidField(path, "must be ROLE_USER");
}

/** Decodes a message from an agent. Id and role may be missing. */
export function decodeRemoteMessage(value: unknown, path: string): Message {
  const wire = asObject(value, path);
  const contextId = textOf(member(wire, "contextId", "context_id"), `${path}.contextId`);
  const taskId = textOf(member(wire, "taskId", "task_id"), `${path}.taskId`);
  const references = listOf(member(wire, "referenceTaskIds", "reference_task_ids"), `${path}.referenceTaskIds`, textOf);
  const extensions = listOf(member(wire, "extensions"), `${path}.extensions`, textOf);
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  // Ids get their branded types here.
  return {
    messageId: textOf(member(wire, "messageId", "message_id"), `${path}.messageId`) as MessageId,
    role: decodeRemoteRole(member(wire, "role"), `${path}.role`),
    parts: listOf(member(wire, "parts"), `${path}.parts`, decodeRemotePart),
    ...(contextId !== "" && { contextId: contextId as ContextId }),
    ...(taskId !== "" && { taskId: taskId as TaskId }),
    ...(references.length > 0 && { referenceTaskIds: references as TaskId[] }),
    ...(extensions.length > 0 && { extensions }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** A message from an agent without a role is the agent's. `user` and `agent` are the names of 0.x. */
const REMOTE_ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  [undefined, "agent"],
  ["ROLE_UNSPECIFIED", "agent"],
  [0, "agent"],
  ["ROLE_USER", "user"],
  ["user", "user"],
  [1, "user"],
  ["ROLE_AGENT", "agent"],
  ["agent", "agent"],
  [2, "agent"],
]);

function decodeRemoteRole(value: unknown, path: string): Role {
  const role = REMOTE_ROLES.get(value);
  if (role === undefined) throw invalidField(path, "must be ROLE_USER or ROLE_AGENT");
  return role;
}
