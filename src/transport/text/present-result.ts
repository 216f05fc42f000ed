import type { OperationResult } from "../../protocol/operation.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import { resultPieces } from "../../wire/large-task.ts";
import { COUNTED_BYTES } from "../answers/answers.ts";
import type { CardSigning } from "../card/card-route.ts";
import { signCard } from "../card/sign-card.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Headers, Reply } from "../exchange.ts";
import { answerKind } from "./answer-kind.ts";
import type { TextCall } from "./text-call.ts";

/**
 * Writes a result as JSON. Shorter than 64 KB: one text. Longer: a text that counts towards `maxAnswerBytes` while it is sent. Tasks with
 * large members, and long pages of tasks, are encoded while they are sent. Throws `unavailable` if the longer answers hold too much memory.
 */
export function presentResult(endpoint: Endpoint, call: TextCall, result: OperationResult): Reply | Promise<Reply> {
  if (result.kind === "task") call.useStyleOf(result.task.dialect);
  const { codec, envelope } = call;
  const bytes = piecesBytes(result);
  if (bytes !== undefined) {
    const pieces = resultPieces(codec, result, (text) => envelope.result(text));
    const source = endpoint.answers.ofPieces(pieces, bytes, answerKind(endpoint, call));
    return { status: 200, headers: resultHeaders(call, result), source };
  }
  const text = codec.encodeResult(result);
  const { cardSigning } = endpoint;
  if (result.kind === "card" && cardSigning !== undefined) return signedReply(endpoint, call, { text, cardSigning });
  return textReply(endpoint, call, { text, headers: resultHeaders(call, result) });
}

/** Extended cards differ from caller to caller, so each answer is signed anew. */
async function signedReply(
  endpoint: Endpoint,
  call: TextCall,
  { text, cardSigning }: { readonly text: string; readonly cardSigning: CardSigning },
): Promise<Reply> {
  const signed = await signCard(text, cardSigning.signer, cardSigning.keysUrl(call.exchange));
  return textReply(endpoint, call, { text: signed, headers: call.headersWith(call.headers) });
}

function textReply(
  endpoint: Endpoint,
  call: TextCall,
  { text, headers }: { readonly text: string; readonly headers: Headers },
): Reply {
  const body = call.envelope.result(text);
  if (body.length < COUNTED_BYTES) return { status: 200, headers, body };
  const source = endpoint.answers.ofText(body, answerKind(endpoint, call));
  return { status: 200, headers: { ...headers, "content-length": String(Buffer.byteLength(body)) }, source };
}

function resultHeaders(call: TextCall, result: OperationResult): Headers {
  const headers = call.headersWith(call.headers);
  if (result.kind !== "tasks" || result.next === undefined) return headers;
  const link = call.codec.nextPageLink?.(result.next, call.request);
  return link === undefined ? headers : { ...headers, link };
}

/** A page of tasks with more text than this is encoded task by task while it is sent. */
const WHOLE_PAGE_BYTES = 256 * 1024;

/** The bytes that an answer holds in memory from the beginning, if it is encoded while it is sent; `undefined` if it is encoded at once. */
export function piecesBytes(result: OperationResult): number | undefined {
  if (result.kind === "task" || result.kind === "sent") {
    return result.task.large === undefined ? undefined : textBytes(result.task);
  }
  if (result.kind !== "tasks") return undefined;
  let bytes = 0;
  for (const task of result.tasks) bytes += textBytes(task);
  return bytes > WHOLE_PAGE_BYTES || result.tasks.some(({ large }) => large !== undefined) ? bytes : undefined;
}

function textBytes({ status, artifacts = "", history = "", metadata = "" }: StoredTask): number {
  return status.length + artifacts.length + history.length + metadata.length;
}
