import type { A2AError } from "../../protocol/error.ts";

/** The body of an error: its code, its message, the invalid fields and the metadata. */
export function encodeError({ code, message, violations, metadata }: A2AError): string {
  const details = Object.keys(metadata).length > 0 ? { details: metadata } : {};
  const fields = violations.map(({ field, description }) => ({ field, description }));
  return JSON.stringify({ error: { code, message, ...(fields.length > 0 && { violations: fields }), ...details } });
}
