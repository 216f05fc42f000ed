import { A2AError, ERROR_CODES, type FieldViolation } from "../protocol/error.ts";
import { codeOfStatus } from "../wire/error-table.ts";
import { ValidationError } from "../wire/plain/named-errors.ts";

export { ValidationError };

/** There is no such thing. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
  readonly resource: string;

  constructor(resource: string) {
    super(`${resource} not found`);
    this.resource = resource;
  }
}

/** An error as the server writes it. */
interface WrittenError {
  readonly code: unknown;
  readonly message: string;
  readonly violations?: readonly FieldViolation[];
  readonly details?: Readonly<Record<string, string>>;
}

/** What a server's refusal is to its caller here: one of the errors above, or else what the server itself threw. */
export function errorOf(status: number, answer: unknown): Error {
  // Safe: an answer of this package's own server, which writes all its refusals so.
  const { code, message, violations = [], details } = (answer as { readonly error: WrittenError }).error;
  if (code === "invalid-params") return new ValidationError(message, violations);
  if (code === "task-not-found") return new NotFoundError("Task");
  if (status === 404) return new NotFoundError(details?.["resource"] ?? "Agent");
  const known = ERROR_CODES.find((candidate) => candidate === code);
  return new A2AError(known ?? codeOfStatus(status), message, { violations });
}
