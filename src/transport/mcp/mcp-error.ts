import { type A2AError, type ErrorCode, toA2AError } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { TASKS_EXTENSION } from "./contract.ts";

/** A JSON-RPC error. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}

const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

/** Errors whose JSON-RPC code says more than "internal error". */
const CODES: Partial<Readonly<Record<ErrorCode, number>>> = {
  "parse-error": -32700,
  "invalid-request": -32600,
  "method-not-found": -32601,
  "method-not-allowed": -32601,
  "invalid-params": INVALID_PARAMS,
  "task-not-found": INVALID_PARAMS,
  "content-type-not-supported": INVALID_PARAMS,
  "unsupported-media-type": -32600,
  "payload-too-large": -32600,
};

/** An error for the client program. `data.reason` is the name of the error in every binding. */
export function rpcErrorOf(thrown: unknown): RpcError {
  const { code, message, violations, retryAfter }: A2AError = toA2AError(thrown);
  return {
    code: CODES[code] ?? INTERNAL,
    message,
    data: {
      reason: code,
      ...(violations.length > 0 && { violations: violations.map((violation) => ({ ...violation })) }),
      ...(retryAfter !== undefined && { retryAfter }),
    },
  };
}

/** The client must support the tasks extension. */
export const TASKS_REQUIRED: RpcError = {
  code: -32021,
  message: "The client must support the extension io.modelcontextprotocol/tasks",
  data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
};

/** The headers of a request do not repeat what its body says. */
export const HEADER_MISMATCH = -32020;

/** An error with exactly this JSON-RPC code. */
export class RpcFailure extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

export function unknownTool(name: string): RpcFailure {
  return new RpcFailure({ code: INVALID_PARAMS, message: `Unknown tool: ${name.slice(0, 100)}` });
}
