import { invalidField } from "../../protocol/error.ts";
import type { Message } from "../../protocol/message.ts";
import { asObject, isId, isWireObject, member } from "../fields/fields.ts";
import { decodeMessage as decodeNewer } from "../v0_3/message.ts";
import { newerParts, partObject } from "./part.ts";

/** Generates an id that the caller's version does not have. */
export type NewId = () => string;

/** How messages of callers are parsed. */
export interface MessageParsing {
  /** Accept common deviations from the specification. */
  readonly lenient: boolean;
  /** Generates the id of a message: 0.1 has none. */
  readonly newId: NewId;
}

/** Encodes a message in the format of 0.1, which has no ids and no references. */
export function messageObject({ role, parts, metadata }: Message): object {
  return { role, parts: parts.map(partObject), ...(metadata !== undefined && { metadata }) };
}

/** Decodes a message from a caller. Members of later versions are ignored, except for an id in the message or its metadata. */
export function decodeMessage(value: unknown, path: string, { lenient, newId }: MessageParsing): Message {
  if (value === undefined) throw invalidField(path, "is required");
  const wire = asObject(value, path);
  const { role, parts, metadata } = wire;
  const metadataId = isWireObject(metadata) ? member(metadata, "messageId") : undefined;
  const messageId = [member(wire, "messageId"), metadataId].find(isId) ?? newId();
  return decodeNewer({ messageId, role, parts: newerParts(parts), metadata }, path, { tag: "type", lenient });
}

/** Converts a message of 0.1 to the format of 0.2, without validating it. */
export function newerMessage(value: unknown): unknown {
  return isWireObject(value) ? { ...value, parts: newerParts(value["parts"]) } : value;
}
