import { invalidField } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { TextPart } from "../../protocol/part.ts";
import {
  asArray,
  asId,
  asObject,
  asString,
  member,
  optionalId,
  optionalJsonObject,
  type WireObject,
} from "../fields/fields.ts";
import { decodePart, partObject } from "./part.ts";

/** Maximum number of parts in a message. */
const MAX_PARTS = 1000;

/** How requests are parsed. */
export interface PlainParsing {
  /** Also accept members of A2A messages: ids within the message, `contextId`, and `kind`. */
  readonly lenient: boolean;
  /** Generates the id of a message without one. */
  newId(): string;
}

/** Encodes a message: only its role and parts. */
export function messageObject({ role, parts }: Message): object {
  return { role, parts: parts.map(partObject) };
}

/** Decodes a message from a caller: a string, or an object with parts. */
export function decodeMessage(value: unknown, path: string, { lenient, newId }: PlainParsing): Message {
  if (value === undefined) throw invalidField(path, "is required");
  if (typeof value === "string") {
    if (value === "") throw invalidField(path, "must not be empty");
    return { messageId: newId() as MessageId, role: "user", parts: [{ text: value }] };
  }
  const wire = asObject(value, path);
  const messageId = member(wire, "messageId");
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  decodeUserRole(member(wire, "role"), `${path}.role`);
  return {
    messageId: (messageId === undefined ? newId() : asId(messageId, `${path}.messageId`)) as MessageId,
    role: "user",
    parts: decodeParts(member(wire, "parts"), `${path}.parts`, lenient),
    ...(lenient ? decodeLinks(wire, `${path}.`, lenient) : requireNoLinks(wire, path)),
    ...(metadata !== undefined && { metadata }),
  };
}

function decodeUserRole(value: unknown, path: string): void {
  if (value === undefined || value === "user") return;
  if (asString(value, path) === "agent") throw invalidField(path, "must be user in a message from a caller");
  throw invalidField(path, "must be user");
}

function decodeParts(value: unknown, path: string, lenient: boolean): TextPart[] {
  const parts = asArray(value ?? [], path, MAX_PARTS);
  if (parts.length === 0) throw invalidField(path, "must have at least one part");
  return parts.map((part, index) => decodePart(part, `${path}[${index}]`, lenient));
}

type Links = Pick<Message, "contextId" | "taskId">;

/** The session of a message and the task that it continues. Ids get their branded types here. */
export function decodeLinks(wire: WireObject, place: string, lenient: boolean): Links {
  if (!lenient && member(wire, "contextId") !== undefined)
    throw invalidField(`${place}contextId`, "must be named sessionId");
  const contextId = optionalId(member(wire, "sessionId", "contextId"), `${place}sessionId`);
  const taskId = optionalId(member(wire, "taskId"), `${place}taskId`);
  return {
    ...(contextId !== undefined && { contextId: contextId as ContextId }),
    ...(taskId !== undefined && { taskId: taskId as TaskId }),
  };
}

/** Ignoring such an id would create a task where the caller wants to continue one. */
function requireNoLinks(wire: WireObject, path: string): Links {
  const link = ["sessionId", "contextId", "taskId"].find((name) => member(wire, name) !== undefined);
  if (link !== undefined) throw invalidField(`${path}.${link}`, "must be outside the message, beside it");
  return {};
}
