import { A2AError, ERROR_CODES, type FieldViolation } from "../protocol/error.ts";
import { codeOfStatus } from "../wire/error-table.ts";
import { ValidationError } from "../wire/plain/named-errors.ts";

export { ValidationError };

/** The agent or task does not exist, or belongs to another caller. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
  /** What was not found, such as `Task` or `Agent`. */
  readonly resource: string;

  constructor(resource: string) {
    super(`${resource} not found`);
    this.resource = resource;
  }
}

/** The error in a response of the server. */
interface WrittenError {
  readonly code: unknown;
  readonly message: string;
  readonly violations?: readonly FieldViolation[];
  readonly details?: Readonly<Record<string, string>>;
}

/** The error to throw for an error response: one of the errors above, else an `A2AError`. */
export function errorOf(status: number, answer: unknown): Error {
  // Safe: a response of this package's own server, which writes all errors like this.
  const { code, message, violations = [], details } = (answer as { readonly error: WrittenError }).error;
  if (code === "invalid-params") return new ValidationError(message, violations);
  if (code === "task-not-found") return new NotFoundError("Task");
  if (status === 404) return new NotFoundError(details?.["resource"] ?? "Agent");
  const known = ERROR_CODES.find((candidate) => candidate === code);
  return new A2AError(known ?? codeOfStatus(status), message, { violations });
}
