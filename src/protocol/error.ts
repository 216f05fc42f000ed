import type { JsonObject } from "./json.ts";

/** What a caller may be told went wrong. Each binding maps every one of these; `docs/reference/errors.md` explains them. */
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
  "loop-detected",
  "unauthenticated",
  "permission-denied",
  "unavailable",
  "payload-too-large",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Names one offending field, by its path on the wire: `message.parts[2].data`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

export interface A2AErrorOptions {
  /** Facts for programs; sent to the caller. String values only, as the wire's ErrorInfo has it. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  /** Structured data of 0.x errors; sent to the caller. */
  readonly data?: JsonObject;
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number;
  /** How the caller can say who it is, as values of `WWW-Authenticate`. */
  readonly challenges?: readonly string[];
  /** For logs; never sent. */
  readonly cause?: unknown;
}

/** An error a caller is told about. `message` is safe to send; `cause` is not and never is. */
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

/** Whatever was thrown, as something a caller may see: foreign errors become a bare `internal`, their text kept as cause. */
export function toA2AError(thrown: unknown): A2AError {
  return thrown instanceof A2AError ? thrown : new A2AError("internal", "Internal error", { cause: thrown });
}

/** The error for one wrong field of a request. */
export function invalidField(field: string, description: string): A2AError {
  return new A2AError("invalid-params", `${field}: ${description}`, { violations: [{ field, description }] });
}
