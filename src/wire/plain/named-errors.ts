import type { FieldViolation } from "../../protocol/error.ts";

// Errors of the plain dialect's functions. Callers distinguish them by `name`.

/** An argument is invalid. */
export class ValidationError extends Error {
  override readonly name = "ValidationError";
  /** The invalid fields. */
  readonly violations: readonly FieldViolation[];

  constructor(message: string, violations: readonly FieldViolation[] = []) {
    super(message);
    this.violations = violations;
  }
}

/** A call to another server failed. */
export class ExternalServiceError extends Error {
  override readonly name = "ExternalServiceError";
  /** The HTTP status of the answer; absent if there was no answer. */
  readonly status: number | undefined;

  constructor(message: string, options: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
  }
}
