import { invalidField } from "../../protocol/error.ts";
import type { Message } from "../../protocol/message.ts";
import { asObject, isId, isWireObject, member } from "../fields/fields.ts";
import { decodeMessage as decodeNewer } from "../v0_3/message.ts";
import { newerParts, partObject } from "./part.ts";

/** Makes an id where the caller's version has none. */
export type NewId = () => string;

export interface MessageParsing {
  /** Whether what this version does not allow, but can be understood, is understood. */
  readonly lenient: boolean;
  readonly newId: NewId;
}

/** A message as this version spells it: who said what, and nothing of where that belongs. */
export function messageObject({ role, parts, metadata }: Message): object {
  return { role, parts: parts.map(partObject), ...(metadata !== undefined && { metadata }) };
}

/** A message from a caller. Members of later versions mean nothing here, but an id is welcome: it spares us one of our own. */
export function decodeMessage(value: unknown, path: string, { lenient, newId }: MessageParsing): Message {
  if (value === undefined) throw invalidField(path, "is required");
  const wire = asObject(value, path);
  const { role, parts, metadata } = wire;
  const named = isWireObject(metadata) ? member(metadata, "messageId") : undefined;
  const messageId = [member(wire, "messageId"), named].find(isId) ?? newId();
  return decodeNewer({ messageId, role, parts: newerParts(parts), metadata }, path, { tag: "type", lenient });
}

/** What an agent sent as a message, such that the reader of the next version understands it. */
export function newerMessage(value: unknown): unknown {
  return isWireObject(value) ? { ...value, parts: newerParts(value["parts"]) } : value;
}
