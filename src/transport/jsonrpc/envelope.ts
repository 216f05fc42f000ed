import { A2AError } from "../../protocol/error.ts";
import type { TextEnvelope } from "../text/text-envelope.ts";

const MAX_ID_LENGTH = 1024;

/** A JSON-RPC 2.0 request. `params` are not parsed. */
export interface RpcRequest {
  readonly method: string;
  readonly params: unknown;
  /** A request without id is a notification, which no operation supports. */
  readonly hasId: boolean;
}

/** Wraps the answers to one request. `id`: the request's id as JSON. */
export class RpcEnvelope implements TextEnvelope {
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  result(text: string): string {
    return `{"jsonrpc":"2.0","id":${this.#id},"result":${text}}`;
  }

  error(text: string): string {
    return `{"jsonrpc":"2.0","id":${this.#id},"error":${text}}`;
  }
}

/** For requests whose id could not be read. */
export const UNIDENTIFIED: RpcEnvelope = new RpcEnvelope("null");

/** The envelope with the request's id, if that is valid, even if the rest of the request is not. */
export function envelopeOf(body: unknown): RpcEnvelope {
  const id = isRecord(body) ? body["id"] : undefined;
  return isRpcId(id) && id !== null ? new RpcEnvelope(JSON.stringify(id)) : UNIDENTIFIED;
}

export function decodeRpcRequest(body: unknown): RpcRequest {
  if (Array.isArray(body)) throw invalidRequest("Batches are not supported: send one request at a time");
  if (!isRecord(body)) throw invalidRequest("A request must be an object");
  if (body["jsonrpc"] !== "2.0") throw invalidRequest('"jsonrpc" must be "2.0"');
  const { id, method, params } = body;
  if (id !== undefined && !isRpcId(id)) {
    throw invalidRequest(`"id" must be a string of at most ${MAX_ID_LENGTH} characters, an integer or null`);
  }
  if (typeof method !== "string" || method === "") throw invalidRequest('"method" must be a non-empty string');
  return { method, params, hasId: id !== undefined };
}

/** The method, even if the rest of the request is invalid. */
export function methodOf(body: unknown): string | undefined {
  const method = isRecord(body) ? body["method"] : undefined;
  return typeof method === "string" && method !== "" ? method : undefined;
}

export function missingId(): A2AError {
  return invalidRequest('"id" is missing: every call is answered, so every call needs one');
}

function invalidRequest(message: string): A2AError {
  return new A2AError("invalid-request", message);
}

/** Integers beyond 2^53 are refused, because they could not be returned exactly. */
function isRpcId(id: unknown): id is string | number | null {
  if (typeof id === "string") return id.length <= MAX_ID_LENGTH;
  return id === null || (typeof id === "number" && Number.isSafeInteger(id));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
