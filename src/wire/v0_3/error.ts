import { A2AError, type ErrorCode, type FieldViolation } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { ERROR_TABLE } from "../error-table.ts";
import { decodeError as decodeDetailedError } from "../v1_0/error.ts";

/** Errors whose codes came with later versions, told by codes that this one has. */
export const CODES: ErrorNumbers = {
  "extension-support-required": ERROR_TABLE["invalid-params"].rpc,
  "version-not-supported": ERROR_TABLE["invalid-request"].rpc,
};

export type ErrorNumbers = Partial<Readonly<Record<ErrorCode, number>>>;

/** The `error` member of a JSON-RPC response, and the whole body of a REST answer. */
export function encodeError(error: A2AError): string {
  return encodeNumbered(error, CODES);
}

/** The body of a REST answer for readers of either form: the members of the error, and all of them again as `error`. */
export function mirroredError(text: string): string {
  return `${text.slice(0, -1)},"error":${text}}`;
}

/** The same for every version that has errors of this form. `numbers`: those that differ from the table. */
export function encodeNumbered(error: A2AError, numbers: ErrorNumbers): string {
  const code = numbers[error.code] ?? ERROR_TABLE[error.code].rpc;
  return JSON.stringify({ code, message: error.message, data: errorData(error) });
}

/** What every version of 0.x tells programs of an error. */
export function errorData({ code, metadata, violations, data }: A2AError): JsonObject {
  const required = metadata["requiredExtensions"];
  return {
    reason: ERROR_TABLE[code].reason,
    ...metadata,
    ...(required !== undefined && { requiredExtensions: required.split(",") }),
    ...(violations.length > 0 && { violations: violations.map(({ field, description }) => ({ field, description })) }),
    ...data,
  };
}

/**
 * An agent's error, in whichever form: as JSON-RPC or REST have it, bare or as `error`, with `data` as this version writes it or
 * details as the next one does. Never throws.
 */
export function decodeError(value: unknown, httpStatus: number): A2AError {
  const error = decodeDetailedError(value, httpStatus);
  const { code, message, data } = error;
  if (data === undefined) return error;
  return new A2AError(code, message, { metadata: metadataOf(data), violations: violationsOf(data), data });
}

/** The texts among the data, and the required extensions as the neutral model has them. */
function metadataOf({ reason: _known, ...facts }: JsonObject): Record<string, string> {
  const metadata: [string, string][] = [];
  for (const [key, value] of Object.entries(facts)) {
    if (typeof value === "string") metadata.push([key, value]);
    else if (key === "requiredExtensions" && Array.isArray(value)) metadata.push([key, value.join(",")]);
  }
  return Object.fromEntries(metadata);
}

function violationsOf({ violations }: JsonObject): FieldViolation[] {
  return Array.isArray(violations) ? violations.filter(isViolation) : [];
}

function isViolation(value: unknown): value is FieldViolation {
  if (typeof value !== "object" || value === null) return false;
  return (
    "field" in value &&
    typeof value.field === "string" &&
    "description" in value &&
    typeof value.description === "string"
  );
}
