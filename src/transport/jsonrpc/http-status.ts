import type { ErrorCode } from "../../protocol/error.ts";

/** HTTP status of a JSON-RPC error. What a well-formed envelope says is told by 200; other statuses mean the request was refused as such. */
export const HTTP_STATUS: Readonly<Record<ErrorCode, number>> = {
  "parse-error": 400,
  "invalid-request": 200,
  "method-not-found": 200,
  "invalid-params": 200,
  internal: 200,
  "task-not-found": 200,
  "task-not-cancelable": 200,
  "push-not-supported": 200,
  "unsupported-operation": 200,
  "content-type-not-supported": 200,
  "invalid-agent-response": 200,
  "extended-card-not-configured": 200,
  "extension-support-required": 200,
  "version-not-supported": 200,
  "resource-exhausted": 200,
  "rate-limited": 429,
  unauthenticated: 401,
  "permission-denied": 403,
  unavailable: 503,
  "payload-too-large": 413,
};
