import { A2AError, type ErrorCode, type FieldViolation } from "../../protocol/error.ts";
import type { JsonValue } from "../../protocol/json.ts";

/** What goes wrong on this side, or on the way. */
export const CLIENT_ERROR_CODES = [
  /** The agent could not be reached, or the connection broke. Nothing was changed by the call, or it may be repeated. */
  "network",
  /** The time given for the call is over. */
  "timeout",
  /** The caller gave up: its signal aborted. */
  "aborted",
  /** The message may or may not have reached the agent. Whoever sends it again may have the work done twice. */
  "outcome-unknown",
  /** A task's stream broke, and could not be resumed. The task itself may well go on. */
  "stream-lost",
  /** The agent offers no way in that is spoken here. */
  "no-interface",
  /** The agent card is missing, or is none. */
  "invalid-card",
  "card-not-found",
  /** An address that must not be called, or a redirection that must not be followed. */
  "blocked-url",
  "response-too-large",
  "event-too-large",
  /** A stream's artifacts are more than it keeps, so that there is no whole task to give. Its events go on. */
  "result-too-large",
  /** What the agent requires to be shown could not be obtained. */
  "no-credentials",
  /** A signature is missing or wrong. */
  "invalid-signature",
] as const;

export type RemoteErrorCode = ErrorCode | (typeof CLIENT_ERROR_CODES)[number];

/** What the other side said, as it said it. */
export interface RemoteDetail {
  readonly httpStatus?: number;
  /** The JSON-RPC error's number. */
  readonly rpcCode?: number;
  /** The reason for programs, such as `TASK_NOT_FOUND`. */
  readonly reason?: string;
  readonly data?: JsonValue;
  /** The beginning of an answer that is no JSON. */
  readonly text?: string;
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number;
  /** The value of `WWW-Authenticate`. */
  readonly authenticate?: string;
}

export interface RemoteErrorOptions {
  readonly remote?: RemoteDetail;
  readonly violations?: readonly FieldViolation[];
  /** The task that the call was about or had already made, where known. */
  readonly taskId?: string;
  readonly cause?: unknown;
}

/** The one error of the client. Decide by `code`; the text is for people. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly code: RemoteErrorCode;
  /** Empty where the other side said nothing. */
  readonly remote: RemoteDetail;
  readonly violations: readonly FieldViolation[];
  readonly taskId: string | undefined;

  constructor(code: RemoteErrorCode, message: string, options: RemoteErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remote = options.remote ?? {};
    this.violations = options.violations ?? [];
    this.taskId = options.taskId;
  }
}

/** An error of the protocol as the client's own, with what is known of the answer that told it. */
export function remoteErrorOf(error: A2AError, remote: RemoteDetail = {}): RemoteError {
  const { taskId } = error.metadata;
  return new RemoteError(error.code, error.message, {
    remote,
    violations: error.violations,
    ...(taskId !== undefined && { taskId }),
    cause: error,
  });
}

/** Whatever was thrown, as the client's own error. */
export function toRemoteError(thrown: unknown): RemoteError {
  if (thrown instanceof RemoteError) return thrown;
  if (thrown instanceof A2AError) return remoteErrorOf(thrown);
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new RemoteError("network", text, { cause: thrown });
}
