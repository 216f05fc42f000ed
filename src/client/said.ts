import { randomId } from "../internal/random-id.ts";
import { CALL_PATH_KEY, NO_CALL_PATH } from "../protocol/call-path.ts";
import type { ContextId, MessageId, TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import type { Said, SaidFile, SaidPart, SendOptions } from "./api.ts";

/** The task and context of a message. Empty ids count as absent. */
export interface Links {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

/** Builds the message: fills in missing members. `links` override the ids in the message itself. */
export function messageOf(said: Said, links: Links = {}): Message {
  const { parts, ...given }: Partial<Omit<Message, "parts">> & { readonly parts: readonly SaidPart[] } = isMessage(said)
    ? said
    : { parts: partsOf(said) };
  const taskId = links.taskId || given.taskId;
  const contextId = links.contextId || given.contextId;
  return {
    ...given,
    parts: parts.map(partOf),
    messageId: given.messageId ?? (randomId() as MessageId),
    role: given.role ?? "user",
    ...(taskId !== undefined && { taskId: taskId as TaskId }),
    ...(contextId !== undefined && { contextId: contextId as ContextId }),
  };
}

function isMessage(said: Said): said is Exclude<Said, string | SaidPart | readonly SaidPart[]> {
  return typeof said === "object" && !Array.isArray(said) && "parts" in said;
}

function partsOf(said: Exclude<Said, { readonly parts: unknown }>): readonly SaidPart[] {
  if (typeof said === "string") return [{ text: said }];
  return isList(said) ? said : [said];
}

function isList(said: SaidPart | readonly SaidPart[]): said is readonly SaidPart[] {
  return Array.isArray(said);
}

/** Throws a `TypeError` for bytes outside of a file: JSON would corrupt them. */
function partOf(part: SaidPart): Part {
  if ([part, ...("file" in part ? [] : [part.text, part.data, part.raw])].some(isBinary)) {
    const advice = "Send them as a file: { file: { bytes, mediaType } }.";
    throw new TypeError(`A message cannot carry bytes as text or data. ${advice}`);
  }
  return "file" in part ? filePart(part.file) : part;
}

function filePart({ name, mediaType, bytes, url }: SaidFile): Part {
  const details = { ...(name !== undefined && { filename: name }), ...(mediaType !== undefined && { mediaType }) };
  if (bytes instanceof Uint8Array && url === undefined) return { raw: base64Of(bytes), ...details };
  if (typeof url === "string" && bytes === undefined) return { url, ...details };
  throw new TypeError("A file needs either bytes, as a Uint8Array, or a url, as a string.");
}

/** Characters per call of `fromCharCode`: engines limit the number of arguments. */
const CHUNK = 8192;

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

function isBinary(value: unknown): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

export interface SendDetails {
  readonly operation: SendRequest["operation"];
  readonly tenant: string;
  readonly waitMs: number;
}

export function sendRequest(message: Message, options: SendOptions, details: SendDetails): SendRequest {
  const { metadata = {}, callPath = NO_CALL_PATH } = options;
  return {
    ...details,
    message,
    metadata: callPath.length > 0 ? { ...metadata, [CALL_PATH_KEY]: callPath } : metadata,
    outputModes: options.outputModes ?? [],
    history: options.historyLength,
    ...(options.push !== undefined && { push: options.push }),
    ...(callPath.length > 0 && { callPath }),
  };
}
