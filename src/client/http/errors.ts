import { A2AError, type ErrorCode, type FieldViolation } from "../../protocol/error.ts";
import type { JsonValue } from "../../protocol/json.ts";

/** Error codes of the client itself, besides the protocol's error codes. */
export const CLIENT_ERROR_CODES = [
  /** The agent could not be reached, or the connection broke. The call changed nothing, or may be repeated. */
  "network",
  /** The call took longer than its `timeout`. */
  "timeout",
  /** The caller's signal aborted. */
  "aborted",
  /** The connection broke, and the agent may or may not have received the message. Sending it again may do the work twice. */
  "outcome-unknown",
  /** A task's stream broke and could not be resumed. The task may still be running. */
  "stream-lost",
  /** The agent's card lists no supported interface. */
  "no-interface",
  /** The agent card is invalid. */
  "invalid-card",
  /** No agent card was found. */
  "card-not-found",
  /** The URL, or the target of a redirect, is not allowed. */
  "blocked-url",
  /** The response is larger than `maxResponseBytes`. */
  "response-too-large",
  /** An event of a stream is longer than `maxEventLength`. */
  "event-too-large",
  /** A stream's artifacts take more than `maxResultBytes`, so `task` and `result()` are not available. Its events continue. */
  "result-too-large",
  /** The credentials that the agent requires are missing or could not be obtained. */
  "no-credentials",
  /** A signature is missing or invalid. */
  "invalid-signature",
] as const;

/** A code of the protocol, or of the client itself. */
export type RemoteErrorCode = ErrorCode | (typeof CLIENT_ERROR_CODES)[number];

/** Details of the agent's error response. */
export interface RemoteDetail {
  /** HTTP status of the response. */
  readonly httpStatus?: number;
  /** gRPC status of the response, from 1 to 16. */
  readonly grpcStatus?: number;
  /** Code of the JSON-RPC error. */
  readonly rpcCode?: number;
  /** Machine-readable reason, such as `TASK_NOT_FOUND`. */
  readonly reason?: string;
  /** `data` of the error, in JSON-RPC and in REST 0.3. */
  readonly data?: JsonValue;
  /** Start of a response that is not JSON. */
  readonly text?: string;
  /** Seconds to wait before the next attempt (`Retry-After`). */
  readonly retryAfter?: number;
  /** Value of the `WWW-Authenticate` header. */
  readonly authenticate?: string;
}

/** Optional members of a `RemoteError`. */
export interface RemoteErrorOptions {
  /** Details of the agent's response. */
  readonly remote?: RemoteDetail;
  /** Invalid fields. */
  readonly violations?: readonly FieldViolation[];
  /** The task that the call was about or had already created. */
  readonly taskId?: string;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/** The error of every client call. Decide by `code`; `message` is for people. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** What went wrong. */
  readonly code: RemoteErrorCode;
  /** Details of the agent's response. Empty if there was no response. */
  readonly remote: RemoteDetail;
  /** Invalid fields, if the agent or the card check named them. */
  readonly violations: readonly FieldViolation[];
  /** The task that the call was about or had already created, if known. */
  readonly taskId: string | undefined;

  constructor(code: RemoteErrorCode, message: string, options: RemoteErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remote = options.remote ?? {};
    this.violations = options.violations ?? [];
    this.taskId = options.taskId;
  }
}

/** Turns a protocol error into a `RemoteError`, with the details of the response. */
export function remoteErrorOf(error: A2AError, remote: RemoteDetail = {}): RemoteError {
  const { taskId } = error.metadata;
  return new RemoteError(error.code, error.message, {
    remote,
    violations: error.violations,
    ...(taskId !== undefined && { taskId }),
    cause: error,
  });
}

/** Turns anything that was thrown into a `RemoteError`; unknown errors become `network`. */
export function toRemoteError(thrown: unknown): RemoteError {
  if (thrown instanceof RemoteError) return thrown;
  if (thrown instanceof A2AError) return remoteErrorOf(thrown);
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new RemoteError("network", text, { cause: thrown });
}
