import { type A2AError, toA2AError } from "../../protocol/error.ts";
import { ERROR_TABLE } from "../../wire/error-table.ts";
import { COUNTED_BYTES } from "../answers/answers.ts";
import { challengesOf } from "../challenges.ts";
import type { Endpoint } from "../endpoint.ts";
import { type FullReply, type Headers, jsonReply, type PullSource, type Reply } from "../exchange.ts";
import type { RpcError } from "./mcp-error.ts";
import { rpcErrorOf } from "./mcp-error.ts";

export type RpcId = string | number | null;

/** A refused request: the HTTP status of the error, and a JSON-RPC error. */
export function errorReply(thrown: unknown, id: RpcId = null, headers: Headers = {}): FullReply {
  const error = toA2AError(thrown);
  return rpcErrorReply(ERROR_TABLE[error.code].http, {
    id,
    error: rpcErrorOf(error),
    headers: { ...headers, ...headersOf(error) },
  });
}

export function rpcErrorReply(
  status: number,
  { id, error, headers }: { readonly id: RpcId; readonly error: RpcError; readonly headers?: Headers },
): FullReply {
  return jsonReply(status, JSON.stringify({ jsonrpc: "2.0", id, error }), headers);
}

/** `WWW-Authenticate` and `Retry-After`. */
export function headersOf(error: A2AError): Headers {
  const challenges = challengesOf(error);
  return {
    ...(challenges !== undefined && { "www-authenticate": challenges }),
    ...(error.retryAfter !== undefined && { "retry-after": String(error.retryAfter) }),
  };
}

/** A JSON answer. A long one counts towards `maxAnswerBytes` while it is sent. */
export function jsonAnswer(endpoint: Endpoint, body: string, headers: Headers): Reply {
  if (body.length < COUNTED_BYTES) return jsonReply(200, body, headers);
  const source = endpoint.answers.ofText(body, { afterWork: true, ended: () => undefined });
  return { status: 200, headers: { "content-type": "application/json", ...headers }, source };
}

/** Errors whose HTTP status tells clients to authenticate, to ask for more rights, or to wait. */
const STATUS_ERRORS: ReadonlySet<string> = new Set(["unauthenticated", "permission-denied", "rate-limited"]);

/** The answer of the SDK. `refusal`: why the call was refused, if it was. */
export async function replyOf(
  endpoint: Endpoint,
  response: Response,
  { refusal, headers }: { readonly refusal: A2AError | undefined; readonly headers: Headers },
): Promise<Reply> {
  const type = response.headers.get("content-type");
  const own: Headers = { ...headers, ...(type !== null && { "content-type": type }), "cache-control": "no-store" };
  const { status, body } = response;
  if (body === null) return { status, headers: own, body: "" };
  if (type?.startsWith("text/event-stream") === true)
    return {
      status,
      headers: { ...own, "cache-control": "no-cache", "x-accel-buffering": "no" },
      source: sourceOf(body),
    };
  const text = await response.text();
  if (refusal !== undefined && STATUS_ERRORS.has(refusal.code))
    return { status: ERROR_TABLE[refusal.code].http, headers: { ...own, ...headersOf(refusal) }, body: text };
  return status === 200 ? jsonAnswer(endpoint, text, own) : { status, headers: own, body: text };
}

function sourceOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): PullSource {
  const reader = body.getReader();
  return {
    async pull() {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    },
    cancel: () => {
      reader.cancel().catch(() => undefined);
    },
  };
}
