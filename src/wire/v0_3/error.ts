import { A2AError, type ErrorCode, type FieldViolation } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { ERROR_TABLE } from "../error-table.ts";
import { decodeError as decodeDetailedError } from "../v1_0/error.ts";

/** Errors that later versions added, with the closest code of 0.3. */
export const CODES: ErrorNumbers = {
  "extension-support-required": ERROR_TABLE["invalid-params"].rpc,
  "version-not-supported": ERROR_TABLE["invalid-request"].rpc,
  "task-changed": ERROR_TABLE.conflict.rpc,
};

/** JSON-RPC codes of one version that differ from `ERROR_TABLE`. */
export type ErrorNumbers = Partial<Readonly<Record<ErrorCode, number>>>;

/** The `error` member of a JSON-RPC response, and the whole body of a REST answer. */
export function encodeError(error: A2AError): string {
  return encodeNumbered(error, CODES);
}

/** The body of a REST answer: the error's members, and a copy of them as `error`, because clients differ in where they look. */
export function mirroredError(text: string): string {
  return `${text.slice(0, -1)},"error":${text}}`;
}

/** Encodes an error for 0.2 and 0.3. `numbers`: the codes that differ from `ERROR_TABLE`. */
export function encodeNumbered(error: A2AError, numbers: ErrorNumbers): string {
  const code = numbers[error.code] ?? ERROR_TABLE[error.code].rpc;
  return JSON.stringify({ code, message: error.message, data: errorData(error) });
}

/**
 * The member `data` of an error in all versions of 0.x, which do not define its content:
 * `{"reason":"TASK_NOT_FOUND","taskId":"t1"}`, or `{"reason":"INVALID_PARAMS","violations":[{"field":"message.role","description":"…"}]}`.
 */
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
 * Decodes an agent's error from JSON-RPC or REST: bare or in the member `error`, with `data` of this server's 0.x format or with details of
 * 1.0. Never throws.
 */
export function decodeError(value: unknown, httpStatus: number): A2AError {
  const error = decodeDetailedError(value, httpStatus);
  const { code, message, data } = error;
  if (data === undefined) return error;
  return new A2AError(code, message, { metadata: metadataOf(data), violations: violationsOf(data), data });
}

/** The string members of `data`, and `requiredExtensions` as a comma-separated list, as in the neutral model. */
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
