import { invalidField } from "../../protocol/error.ts";
import type { MessageId } from "../../protocol/ids.ts";
import type { Message, Role } from "../../protocol/message.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asArray, asId, asObject, isWireObject, member, type WireObject } from "../fields/fields.ts";
import { decodeLinks } from "../fields/message-links.ts";
import { LENIENT, type Parsing } from "../fields/parsing.ts";
import { OFFICIAL, type OutputFormat } from "./format.ts";
import { decodePart, decodeRemotePart } from "./part.ts";

/** Maximum number of parts in a message of a caller. */
const MAX_PARTS = 1000;

/** JSON text of `messageObject`. Default: the official format. */
export function encodeMessage(message: Message, format?: OutputFormat): string {
  return JSON.stringify(messageObject(message, format));
}

/**
 * Encodes a message in the format of 0.3.
 * `{ messageId: "m1", role: "user", parts: [{ text: "Hi" }] }` becomes
 * `{ kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text: "Hi" }] }`.
 */
export function messageObject(message: Message, format: OutputFormat = OFFICIAL): object {
  return { kind: "message", ...message, parts: message.parts.map((part) => format.part(part)) };
}

/** Encodes the message of a status; copies `metadata.inputRequest` to `inputRequest` if the format asks for it. */
export function statusMessageObject(message: Message, format: OutputFormat): object {
  const inputRequest = format.inputRequest ? message.metadata?.["inputRequest"] : undefined;
  const written = messageObject(message, format);
  return inputRequest === undefined ? written : { ...written, inputRequest };
}

/** Decodes a message from a caller. The role must be `user`: only the agent itself writes messages with the role `agent`. */
export function decodeMessage(value: unknown, path: string, parsing: Parsing = LENIENT): Message {
  if (value === undefined) throw invalidField(path, "is required");
  const wire = asObject(value, path);
  decodeKind(member(wire, "kind"), `${path}.kind`, parsing);
  const messageId = asId(member(wire, "messageId"), `${path}.messageId`);
  decodeUserRole(member(wire, "role"), `${path}.role`);
  const parts = asArray(member(wire, "parts") ?? [], `${path}.parts`, MAX_PARTS);
  if (parts.length === 0) throw invalidField(`${path}.parts`, "must have at least one part");
  return {
    messageId: messageId as MessageId,
    role: "user",
    parts: parts.map((part, index) => decodePart(part, `${path}.parts[${index}]`, parsing)),
    ...decodeLinks(wire, path),
  };
}

/** Messages have `kind` in the versions whose parts have it. */
function decodeKind(kind: unknown, path: string, { tag, lenient }: Parsing): void {
  if (kind === "message" || tag !== "kind") return;
  if (kind !== undefined) throw invalidField(path, "must be message");
  // Examples in the specification omit it.
  if (!lenient) throw invalidField(path, "is required");
}

function decodeUserRole(value: unknown, path: string): void {
  if (value === "user") return;
  if (value === undefined) throw invalidField(path, "is required");
  if (value === "agent") throw invalidField(path, "must be user in a message from a caller");
  throw invalidField(path, "must be user");
}

/** Decodes a message from an agent. Id and role may be missing. */
export function decodeRemoteMessage(value: unknown, path: string): Message {
  const wire = asObject(value, path);
  return {
    messageId: textOf(member(wire, "messageId"), `${path}.messageId`) as MessageId,
    role: decodeRemoteRole(member(wire, "role"), `${path}.role`),
    parts: listOf(member(wire, "parts"), `${path}.parts`, decodeRemotePart),
    ...decodeLinks(withInputRequest(wire), path),
  };
}

/** Some agents write `inputRequest` as a member of the message instead of its metadata. */
function withInputRequest(wire: WireObject): WireObject {
  const { inputRequest, metadata } = wire;
  if (!isWireObject(inputRequest)) return wire;
  return { ...wire, metadata: { inputRequest, ...(isWireObject(metadata) && metadata) } };
}

function decodeRemoteRole(value: unknown, path: string): Role {
  if (value === undefined || value === "agent" || value === "ROLE_AGENT") return "agent";
  if (value === "user" || value === "ROLE_USER") return "user";
  throw invalidField(path, "must be user or agent");
}
