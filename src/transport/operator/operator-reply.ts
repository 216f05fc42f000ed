import type { A2AError } from "../../protocol/error.ts";
import { type FullReply, type Headers, jsonReply } from "../exchange.ts";

/** Nothing may keep, frame or interpret answers for operators. No CORS header is ever sent. */
export const PRIVATE_HEADERS: Headers = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** The HTTP status and the name of an error, by code. Other errors are 500. */
const STATUS: Partial<Readonly<Record<A2AError["code"], readonly [status: number, name: string]>>> = {
  "invalid-params": [400, "INVALID_ARGUMENT"],
  "invalid-request": [400, "INVALID_ARGUMENT"],
  "parse-error": [400, "INVALID_ARGUMENT"],
  unauthenticated: [401, "UNAUTHENTICATED"],
  "permission-denied": [403, "PERMISSION_DENIED"],
  "task-not-found": [404, "NOT_FOUND"],
  "method-not-found": [404, "NOT_FOUND"],
  "method-not-allowed": [405, "UNIMPLEMENTED"],
  "unsupported-operation": [409, "FAILED_PRECONDITION"],
  "task-not-cancelable": [409, "FAILED_PRECONDITION"],
  "task-changed": [409, "ABORTED"],
  "payload-too-large": [413, "OUT_OF_RANGE"],
  "unsupported-media-type": [415, "INVALID_ARGUMENT"],
  "resource-exhausted": [429, "RESOURCE_EXHAUSTED"],
  "push-not-supported": [501, "UNIMPLEMENTED"],
  unavailable: [503, "UNAVAILABLE"],
};

export function privateJson(status: number, value: unknown, headers?: Headers): FullReply {
  return jsonReply(status, `${JSON.stringify(value)}\n`, { ...PRIVATE_HEADERS, ...headers });
}

/** `{"error":{"code":404,"status":"NOT_FOUND","message":"…"}}`. */
export function errorReply(error: A2AError, headers?: Headers): FullReply {
  const [code, status] = STATUS[error.code] ?? [500, "INTERNAL"];
  const message = code === 500 ? "Internal error" : error.message;
  const challenge: Headers = code === 401 ? { "www-authenticate": 'Bearer realm="palaver operator"' } : {};
  const hasDetails = code !== 500 && Object.keys(error.metadata).length > 0;
  const details = hasDetails ? { details: error.metadata } : {};
  return privateJson(code, { error: { code, status, message, ...details } }, { ...challenge, ...headers });
}
