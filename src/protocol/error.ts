import { generationOf } from "./generation.ts";
import type { JsonObject } from "./json.ts";

/** Error codes that callers see. Each binding maps all of them; see `docs/reference/errors.md`. */
export const ERROR_CODES = [
  "parse-error",
  "invalid-request",
  "method-not-found",
  "method-not-allowed",
  "invalid-params",
  "internal",
  "task-not-found",
  "task-not-cancelable",
  "push-not-supported",
  "unsupported-operation",
  "content-type-not-supported",
  "unsupported-media-type",
  "invalid-agent-response",
  "extended-card-not-configured",
  "extension-support-required",
  "version-not-supported",
  "resource-exhausted",
  "rate-limited",
  "conflict",
  "task-changed",
  "loop-detected",
  "unauthenticated",
  "permission-denied",
  "unavailable",
  "payload-too-large",
] as const;

/** The name of an error in every version; `docs/reference/errors.md` has its number in every binding. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** An invalid field. `field` is its path in the request: `message.parts[2].data`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** Everything is optional. Only `cause` is not sent to the caller. */
export interface A2AErrorOptions {
  /** Machine-readable details, sent to the caller. Strings only, as in `google.rpc.ErrorInfo`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The invalid fields; in 1.0 a `google.rpc.BadRequest` (A2A 1.0 §9.5). */
  readonly violations?: readonly FieldViolation[];
  /** The `data` member of 0.x errors, sent to the caller. */
  readonly data?: JsonObject;
  /** Seconds after which the caller may retry. */
  readonly retryAfter?: number;
  /** Authentication challenges: values of the `WWW-Authenticate` header. */
  readonly challenges?: readonly string[];
  /** For logs; never sent to the caller. */
  readonly cause?: unknown;
}

/** An error that is sent to the caller. `message` is sent; `cause` is only logged. */
export class A2AError extends Error {
  override readonly name = "A2AError";
  readonly code: ErrorCode;
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly data: JsonObject | undefined;
  readonly retryAfter: number | undefined;
  readonly challenges: readonly string[];

  constructor(code: ErrorCode, message: string, options: A2AErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.data = options.data;
    this.retryAfter = options.retryAfter;
    this.challenges = options.challenges ?? [];
  }
}

/** The task is not, or no longer, at the seq that the caller of a send has seen. */
export function taskChanged(expectedSeq: number, currentSeq: number): A2AError {
  const expected = String(generationOf(expectedSeq));
  const current = String(generationOf(currentSeq));
  const text =
    expected === current
      ? `The task has accepted another message since generation ${expected}; read the task again, and send again if it still applies.`
      : `The task is at generation ${current}, not ${expected}; read it again, and send again if the message still applies.`;
  return new A2AError("task-changed", text, {
    metadata: { expectedGeneration: expected, currentGeneration: current },
  });
}

/** Converts anything thrown to an `A2AError`. Other errors become `internal` without details; the original is the `cause`. */
export function toA2AError(thrown: unknown): A2AError {
  return thrown instanceof A2AError ? thrown : new A2AError("internal", "Internal error", { cause: thrown });
}

/**
 * An `invalid-params` error for one field of a request.
 * `invalidField("message.role", "is required")` has the message `message.role: is required`.
 */
export function invalidField(field: string, description: string): A2AError {
  return new A2AError("invalid-params", `${field}: ${description}`, { violations: [{ field, description }] });
}
