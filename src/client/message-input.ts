import { randomId } from "../internal/random-id.ts";
import { CALL_PATH_KEY, NO_CALL_PATH } from "../protocol/call-path.ts";
import { seqOfGeneration } from "../protocol/generation.ts";
import type { ContextId, MessageId, TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import type { FileInput, MessageInput, PartInput, SendOptions } from "./api.ts";

/** The task and context of a message. Empty ids count as absent. */
export interface Links {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

/**
 * Builds the message: fills in missing members. `links` override the ids in the message itself.
 * `"Hi"` becomes `{ messageId: "<random>", role: "user", parts: [{ text: "Hi" }] }`.
 */
export function messageOf(input: MessageInput, links: Links = {}): Message {
  const { parts, ...given }: Partial<Omit<Message, "parts">> & { readonly parts: readonly PartInput[] } = isMessage(
    input,
  )
    ? input
    : { parts: partsOf(input) };
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

function isMessage(input: MessageInput): input is Exclude<MessageInput, string | PartInput | readonly PartInput[]> {
  return typeof input === "object" && !Array.isArray(input) && "parts" in input;
}

function partsOf(input: Exclude<MessageInput, { readonly parts: unknown }>): readonly PartInput[] {
  if (typeof input === "string") return [{ text: input }];
  return isList(input) ? input : [input];
}

function isList(input: PartInput | readonly PartInput[]): input is readonly PartInput[] {
  return Array.isArray(input);
}

/** Throws a `TypeError` for bytes outside of a file: JSON would corrupt them. */
function partOf(part: PartInput): Part {
  if ([part, ...("file" in part ? [] : [part.text, part.data, part.raw])].some(isBinary)) {
    const advice = "Send them as a file: { file: { bytes, mediaType } }.";
    throw new TypeError(`A message cannot carry bytes as text or data. ${advice}`);
  }
  return "file" in part ? filePart(part.file) : part;
}

/**
 * `{ name: "a.txt", bytes }` becomes `{ raw: "<base64>", filename: "a.txt" }`. Throws a `TypeError` for a file with neither bytes nor URL,
 * or both.
 */
function filePart({ name, mediaType, bytes, url }: FileInput): Part {
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

/** What the caller of `sendRequest` decides, rather than its user. */
export interface SendDetails {
  readonly operation: SendRequest["operation"];
  readonly tenant: string;
  /** See `SendRequest`. */
  readonly waitMs: number;
}

/** The request for a message. The call path is sent twice, as a header and in the metadata: proxies may remove unknown headers. */
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
    ...(options.ifGeneration !== undefined && {
      expectedSeq: seqOfGeneration(checkedGeneration(options.ifGeneration, "ifGeneration")),
    }),
  };
}

/** Throws a `TypeError` for a value that is no generation. */
export function checkedGeneration(generation: number, option: string): number {
  if (Number.isSafeInteger(generation) && generation >= 0) return generation;
  throw new TypeError(`${option} must be a whole number of at least 0, not ${String(generation)}.`);
}

/** The options of the answers that follow a message: only the message itself depends on a generation. */
export function withoutCondition({ ifGeneration: _ofTheFirst, ...options }: SendOptions): SendOptions {
  return options;
}
