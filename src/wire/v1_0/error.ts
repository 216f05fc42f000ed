import type { A2AError, ErrorCode } from "../../protocol/error.ts";

interface WireError {
  readonly code: number;
  readonly reason: string;
}

/** How each error is spelt in a JSON-RPC response. Codes the protocol does not define are kept to -32050…-32099. */
const JSONRPC_ERRORS: Readonly<Record<ErrorCode, WireError>> = {
  "parse-error": { code: -32700, reason: "PARSE_ERROR" },
  "invalid-request": { code: -32600, reason: "INVALID_REQUEST" },
  "method-not-found": { code: -32601, reason: "METHOD_NOT_FOUND" },
  "invalid-params": { code: -32602, reason: "INVALID_PARAMS" },
  internal: { code: -32603, reason: "INTERNAL" },
  "task-not-found": { code: -32001, reason: "TASK_NOT_FOUND" },
  "task-not-cancelable": { code: -32002, reason: "TASK_NOT_CANCELABLE" },
  "push-not-supported": { code: -32003, reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" },
  "unsupported-operation": { code: -32004, reason: "UNSUPPORTED_OPERATION" },
  "content-type-not-supported": { code: -32005, reason: "CONTENT_TYPE_NOT_SUPPORTED" },
  "invalid-agent-response": { code: -32006, reason: "INVALID_AGENT_RESPONSE" },
  "extended-card-not-configured": { code: -32007, reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED" },
  "extension-support-required": { code: -32008, reason: "EXTENSION_SUPPORT_REQUIRED" },
  "version-not-supported": { code: -32009, reason: "VERSION_NOT_SUPPORTED" },
  "resource-exhausted": { code: -32053, reason: "RESOURCE_EXHAUSTED" },
  "rate-limited": { code: -32054, reason: "RATE_LIMITED" },
  unauthenticated: { code: -32055, reason: "UNAUTHENTICATED" },
  "permission-denied": { code: -32056, reason: "PERMISSION_DENIED" },
  unavailable: { code: -32057, reason: "UNAVAILABLE" },
  "payload-too-large": { code: -32058, reason: "PAYLOAD_TOO_LARGE" },
};

export function encodeError(error: A2AError): string {
  const { code, reason } = JSONRPC_ERRORS[error.code];
  const data: object[] = [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason,
      domain: "a2a-protocol.org",
      metadata: error.metadata,
    },
  ];
  if (error.violations.length > 0) {
    data.push({ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: error.violations });
  }
  return JSON.stringify({ code, message: error.message, data });
}
