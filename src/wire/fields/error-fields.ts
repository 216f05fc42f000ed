import { A2AError } from "../../protocol/error.ts";

/** Pairs of a field name in errors of the server core, and its name in one version. */
export type FieldNames = readonly (readonly [neutral: string, own: string])[];

/**
 * Replaces the field names in an error by those of the caller's version, in the message too.
 * In 0.1, `message.contextId: must not be empty` becomes `sessionId: must not be empty`.
 */
export function withFieldNames(error: A2AError, names: FieldNames): A2AError {
  const { code, message, metadata, violations, data } = error;
  const { field } = metadata;
  if (violations.length === 0 && field === undefined) return error;
  return new A2AError(code, renamed(message, names), {
    violations: violations.map((violation) => ({
      field: renamed(violation.field, names),
      description: renamed(violation.description, names),
    })),
    metadata: field === undefined ? metadata : { ...metadata, field: renamed(field, names) },
    ...(data !== undefined && { data }),
  });
}

function renamed(text: string, names: FieldNames): string {
  return names.reduce((renamed, [neutral, own]) => renamed.replaceAll(neutral, own), text);
}
