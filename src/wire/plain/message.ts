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

const MAX_PARTS = 1000;

/** How requests are read. */
export interface PlainParsing {
  /** What belongs to the protocol's own messages is understood as well: ids in the message, and other names. */
  readonly lenient: boolean;
  /** Names a message that has no id. */
  newId(): string;
}

/** A message as this dialect spells it: who said what. */
export function messageObject({ role, parts }: Message): object {
  return { role, parts: parts.map(partObject) };
}

/** A message from a caller: its text alone, or a message as it is written. */
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

/** Which session a message belongs to, and which task it goes on with. Ids are branded here, where they enter. */
export function decodeLinks(wire: WireObject, place: string, lenient: boolean): Links {
  if (!lenient && member(wire, "contextId") !== undefined)
    throw invalidField(`${place}contextId`, "must be called sessionId");
  const contextId = optionalId(member(wire, "sessionId", "contextId"), `${place}sessionId`);
  const taskId = optionalId(member(wire, "taskId"), `${place}taskId`);
  return {
    ...(contextId !== undefined && { contextId: contextId as ContextId }),
    ...(taskId !== undefined && { taskId: taskId as TaskId }),
  };
}

/** To leave them unread would begin a new task where the caller means to go on with one. */
function requireNoLinks(wire: WireObject, path: string): Links {
  const link = ["sessionId", "contextId", "taskId"].find((name) => member(wire, name) !== undefined);
  if (link !== undefined) throw invalidField(`${path}.${link}`, "must stand beside the message");
  return {};
}
