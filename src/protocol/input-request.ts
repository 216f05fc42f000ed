// Questions of a task in the metadata of messages. A2A says only that a task waits (`input-required`), not what for. Palaver adds
// `metadata.inputRequest` (and `inputRequests` if several questions are open), so that a program can tell which question it answers.

import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { Message } from "./message.ts";
import type { DataPart, Part } from "./part.ts";
import { toolResultOf } from "./tool-part.ts";

/** An open question of a task, as listed in the metadata of its status message. */
export interface InputRequest {
  /** `auth-request`: the caller must authorise something. */
  readonly kind: "input-request" | "auth-request";
  /** The question as text; empty if the agent gave none. */
  readonly prompt: string;
  /** The answer names it. */
  readonly requestId: string;
  /** The name that the agent's author gave the question; the same each time the question is asked. */
  readonly name?: string;
  /** The answer must not be shown or logged. */
  readonly sensitive?: boolean;
}

/** A request id in a message, and the field that holds it. */
export interface NamedRequest {
  readonly id: string;
  readonly field: string;
}

/** The field of a message with the request id of the question it answers. */
export const REQUEST_ID_FIELD = "message.metadata.inputRequest.requestId";

/**
 * The metadata of a status message that asks these questions (at least one).
 * One question: `{ inputRequest: {…} }`. Several: `{ inputRequest: {…first}, inputRequests: [{…}, {…}] }`, because some clients read only
 * `inputRequest`. `sensitive: true` is added if any of the answers must not be shown.
 */
export function requestsMetadata(requests: readonly InputRequest[]): JsonObject {
  const first = requests.find(({ kind }) => kind === "input-request");
  const isListed = requests.length > 1;
  return {
    ...(first !== undefined && { inputRequest: { ...first } }),
    ...(isListed && { inputRequests: requests.map((request) => ({ ...request })) }),
    // User interfaces mask the input.
    ...(requests.some(({ sensitive }) => sensitive === true) && { sensitive: true }),
  };
}

/** The open questions in a status message, in the order they were asked. */
export function inputRequestsOf(message: Pick<Message, "metadata"> | undefined): readonly InputRequest[] {
  const listed = message?.metadata?.["inputRequests"];
  const entries: readonly JsonValue[] = Array.isArray(listed) ? listed : [message?.metadata?.["inputRequest"] ?? null];
  return entries.flatMap((entry) => requestOf(entry) ?? []);
}

/** The metadata of a message that answers the question with this request id: `{ inputRequest: { requestId } }`. */
export function answerMetadata(requestId: string): JsonObject {
  return { inputRequest: { requestId } };
}

const NONE: readonly NamedRequest[] = [];

/** The request ids that a message refers to: in its tool results and in `metadata.inputRequest.requestId`. */
export function namedRequests({ parts, metadata }: Pick<Message, "parts" | "metadata">): readonly NamedRequest[] {
  let named: NamedRequest[] | undefined;
  for (const [index, part] of parts.entries()) {
    const id = toolResultOf(part)?.toolUseId;
    if (id === undefined) continue;
    named ??= [];
    named.push({ id, field: `message.parts[${index}].data.toolUseId` });
  }
  const request = metadata?.["inputRequest"];
  const id = isJsonObject(request) ? request["requestId"] : undefined;
  if (typeof id === "string") {
    named ??= [];
    named.push({ id, field: REQUEST_ID_FIELD });
  }
  return named ?? NONE;
}

/** The form of the answer to a question, for programs and forms. */
export interface InputSchema {
  /** Request id of the question. */
  readonly requestId: string;
  /** JSON Schema, draft 2020-12. */
  readonly schema: JsonObject;
}

/**
 * A2A has no part for this: it is a data part, marked by the part's metadata.
 * `{ requestId: "r1", schema }` becomes `{ data: { requestId: "r1", schema }, metadata: { kind: "input-schema" } }`.
 */
export function inputSchemaPart(input: InputSchema): DataPart {
  return { data: { ...input }, metadata: { kind: "input-schema" } };
}

/** The schema in a part; `undefined` for other parts. */
export function inputSchemaOf({ data, metadata }: Part): InputSchema | undefined {
  if (metadata?.["kind"] !== "input-schema" || !isJsonObject(data)) return undefined;
  const { requestId, schema } = data;
  return typeof requestId === "string" && isJsonObject(schema) ? { requestId, schema } : undefined;
}

/** Lenient, because the question may come from a remote agent: only `requestId` is required. */
function requestOf(value: JsonValue): InputRequest | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, prompt, requestId, name, sensitive } = value;
  if (typeof requestId !== "string") return undefined;
  return {
    kind: kind === "auth-request" ? kind : "input-request",
    prompt: typeof prompt === "string" ? prompt : "",
    requestId,
    ...(typeof name === "string" && { name }),
    ...(sensitive === true && { sensitive }),
  };
}
