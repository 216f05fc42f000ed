import type { FieldViolation } from "../../protocol/error.ts";

// What callers of the plain dialect's functions are told by the name of the error.

/** What was given makes no sense. */
export class ValidationError extends Error {
  override readonly name = "ValidationError";
  /** What is wrong with which field. */
  readonly violations: readonly FieldViolation[];

  constructor(message: string, violations: readonly FieldViolation[] = []) {
    super(message);
    this.violations = violations;
  }
}

/** Somebody else's server did not do its part. */
export class ExternalServiceError extends Error {
  override readonly name = "ExternalServiceError";
  /** The HTTP status of its answer; absent where none came. */
  readonly status: number | undefined;

  constructor(message: string, options: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
  }
}
