import { A2AError } from "../../protocol/error.ts";

/** What a version calls the fields that errors from behind the codec name, where there is one name for all versions. */
export type FieldNames = readonly (readonly [neutral: string, own: string])[];

/** The error with its fields named as the caller knows them. */
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
