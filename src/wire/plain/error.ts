import type { A2AError } from "../../protocol/error.ts";

/** What went wrong, in a word for programs and a sentence for people; which fields, and what else is known of it. */
export function encodeError({ code, message, violations, metadata }: A2AError): string {
  const details = Object.keys(metadata).length > 0 ? { details: metadata } : {};
  const fields = violations.map(({ field, description }) => ({ field, description }));
  return JSON.stringify({ error: { code, message, ...(fields.length > 0 && { violations: fields }), ...details } });
}
