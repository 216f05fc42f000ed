import { invalidField } from "../../protocol/error.ts";
import type { MessageId } from "../../protocol/ids.ts";
import type { Message, Role } from "../../protocol/message.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asArray, asId, asObject, member } from "../fields/fields.ts";
import { decodeLinks, SNAKE_CASE } from "../fields/message-links.ts";
import { decodePart, partObject } from "./part.ts";

/** Maximum number of parts in a message of a caller. */
const MAX_PARTS = 1000;
const ROLE_NAMES: Readonly<Record<Role, string>> = { user: "ROLE_USER", agent: "ROLE_AGENT" };

/**
 * Encodes a message in proto style, without `referenceTaskIds`: the definition lacks it, and readers reject unknown members.
 * `{ messageId: "m1", role: "user", parts: [{ text: "Hi" }] }` becomes `{ messageId: "m1", role: "ROLE_USER", content: [{ text: "Hi" }] }`.
 */
export function messageObject({ messageId, contextId, taskId, role, ...rest }: Message): object {
  const { parts, metadata, extensions } = rest;
  return {
    messageId,
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
    role: ROLE_NAMES[role],
    content: parts.map(partObject),
    ...(metadata !== undefined && { metadata }),
    ...(extensions !== undefined && { extensions }),
  };
}

/** Decodes a message from a caller. The role must be `user`: only the agent itself writes messages with the role `agent`. */
export function decodeMessage(value: unknown, path: string): Message {
  if (value === undefined) throw invalidField(path, "is required");
  const wire = asObject(value, path);
  const messageId = asId(member(wire, "messageId", "message_id"), `${path}.messageId`);
  const role = decodeRole(member(wire, "role"), `${path}.role`);
  if (role === undefined) throw invalidField(`${path}.role`, "is required");
  if (role === "agent") throw invalidField(`${path}.role`, "must be ROLE_USER in a message from a caller");
  const content = asArray(member(wire, "content") ?? [], `${path}.content`, MAX_PARTS);
  if (content.length === 0) throw invalidField(`${path}.content`, "must have at least one part");
  return {
    messageId: messageId as MessageId,
    role,
    parts: content.map((part, index) => decodePart(part, `${path}.content[${index}]`)),
    // Includes `referenceTaskIds`, which the definition lacks but some callers send.
    ...decodeLinks(wire, path, SNAKE_CASE),
  };
}

/** Decodes a message from an agent. Id and role may be missing. */
export function decodeRemoteMessage(value: unknown, path: string): Message {
  const wire = asObject(value, path);
  return {
    messageId: textOf(member(wire, "messageId", "message_id"), `${path}.messageId`) as MessageId,
    role: decodeRole(member(wire, "role"), `${path}.role`) ?? "agent",
    parts: listOf(member(wire, "content"), `${path}.content`, decodePart),
    ...decodeLinks(wire, path, SNAKE_CASE),
  };
}

/** By name or number. `undefined`: unspecified. */
function decodeRole(value: unknown, path: string): Role | undefined {
  if (value === ROLE_NAMES.user || value === 1) return "user";
  if (value === ROLE_NAMES.agent || value === 2) return "agent";
  if (value === undefined || value === "ROLE_UNSPECIFIED" || value === 0) return undefined;
  throw invalidField(path, "must be ROLE_USER or ROLE_AGENT");
}
