import { A2AError, type FieldViolation } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { codeOfReason, codeOfRpc, codeOfStatus, ERROR_TABLE } from "../error-table.ts";
import { type FieldNames, withFieldNames } from "../fields/error-fields.ts";
import type { WireObject } from "../fields/fields.ts";
import type { DialectSettings } from "../options.ts";

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";

/** Webhooks are flat objects in 1.0. */
const FIELDS: FieldNames = [
  ["configuration.pushNotificationConfig", "configuration.taskPushNotificationConfig"],
  ["pushNotificationConfig.", ""],
];

/** The error with the field names of 1.0. */
export function withOwnFields(error: A2AError): A2AError {
  return withFieldNames(error, FIELDS);
}

/**
 * The `error` member of a JSON-RPC response (A2A 1.0 §9.5):
 * `{"code":-32001,"message":"…","data":[{"@type":"…ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{}}]}`.
 */
export function encodeRpcError(neutral: A2AError): string {
  const error = withOwnFields(neutral);
  return JSON.stringify({ code: ERROR_TABLE[error.code].rpc, message: error.message, data: detailsOf(error) });
}

/** The statuses of a REST error, which differ between 1.0.0 and 1.0.1. */
export interface RestErrorForm {
  /** The HTTP status. */
  readonly code: number;
  /** The gRPC status name. */
  readonly status: string;
}

/** The statuses of an error in one edition (A2A 1.0 §5.4). */
export function restErrorForm({ code }: A2AError, edition: DialectSettings["errorProfile"]): RestErrorForm {
  const { http, status, httpFirstEdition, statusFirstEdition } = ERROR_TABLE[code];
  return edition === "1.0.0" ? { code: httpFirstEdition, status: statusFirstEdition } : { code: http, status };
}

/**
 * The whole body of a REST answer (A2A 1.0 §11.6):
 * `{"error":{"code":404,"status":"NOT_FOUND","message":"…","details":[…]}}`, with the same details as in JSON-RPC.
 */
export function encodeRestError(neutral: A2AError, form: RestErrorForm): string {
  const error = withOwnFields(neutral);
  return JSON.stringify({ error: { ...form, message: error.message, details: detailsOf(error) } });
}

/** ErrorInfo is always the first detail; 1.0.0 requires it. Invalid fields follow as BadRequest. */
export function detailsOf(error: A2AError): readonly object[] {
  const { reason } = ERROR_TABLE[error.code];
  const { metadata, violations } = error;
  const details: object[] = [{ "@type": ERROR_INFO, reason, domain: "a2a-protocol.org", metadata }];
  if (violations.length > 0) {
    details.push({ "@type": BAD_REQUEST, fieldViolations: violations });
  }
  return details;
}

/**
 * Decodes an agent's error from JSON-RPC, REST or RFC 9457 (problem details). The `reason` decides which error it is, else the JSON-RPC
 * code, else the HTTP status. Never throws: an unreadable error is decoded by its status.
 */
export function decodeError(value: unknown, httpStatus: number): A2AError {
  const body = recordOf(value);
  const error = isRecord(body["error"]) ? body["error"] : body;
  const details = [error["data"], error["details"]].flat().filter(isRecord);
  const info = details.find((detail) => typeof detail["reason"] === "string");
  const code = codeOfReason(info?.["reason"]) ?? codeOfRpc(error["code"]) ?? codeOfStatus(httpStatus);
  const texts = [error["message"], error["detail"], error["title"], body["error"], value];
  const message = texts.find((text) => typeof text === "string" && text !== "");
  const data = error["data"];
  return new A2AError(code, typeof message === "string" ? message : `The agent answered with HTTP ${httpStatus}`, {
    metadata: stringsOf(recordOf(info?.["metadata"])),
    violations: details.flatMap(violationsOf),
    ...(isRecord(data) && { data }),
  });
}

function violationsOf(detail: WireObject): readonly FieldViolation[] {
  const violations = detail["fieldViolations"] ?? detail["field_violations"];
  if (!Array.isArray(violations)) return [];
  return violations.filter(isRecord).map(({ field, description }) => ({
    field: typeof field === "string" ? field : "",
    description: typeof description === "string" ? description : "",
  }));
}

function stringsOf(wire: WireObject): Record<string, string> {
  const strings = Object.entries(wire).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(strings);
}

function recordOf(value: unknown): WireObject {
  return isRecord(value) ? value : {};
}

/** Only for values that `JSON.parse` returned. */
function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
