import { A2AError, type FieldViolation } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { codeOfReason, codeOfRpc, codeOfStatus, ERROR_TABLE } from "../error-table.ts";
import { type FieldNames, withFieldNames } from "../fields/error-fields.ts";
import type { WireObject } from "../fields/fields.ts";
import type { DialectSettings } from "../options.ts";

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";

/** Configurations are flat in this version. */
const FIELDS: FieldNames = [
  ["configuration.pushNotificationConfig", "configuration.taskPushNotificationConfig"],
  ["pushNotificationConfig.", ""],
];

export function encodeRpcError(neutral: A2AError): string {
  const error = withFieldNames(neutral, FIELDS);
  return JSON.stringify({ code: ERROR_TABLE[error.code].rpc, message: error.message, data: detailsOf(error) });
}

/** How an error of REST is told, which the editions of this version do differently. */
export interface RestErrorForm {
  /** The HTTP status. */
  readonly code: number;
  /** The canonical name of its status. */
  readonly status: string;
}

export function restErrorForm({ code }: A2AError, edition: DialectSettings["errorProfile"]): RestErrorForm {
  const { http, status, httpFirstEdition, statusFirstEdition } = ERROR_TABLE[code];
  return edition === "1.0.0" ? { code: httpFirstEdition, status: statusFirstEdition } : { code: http, status };
}

export function encodeRestError(neutral: A2AError, form: RestErrorForm): string {
  const error = withFieldNames(neutral, FIELDS);
  return JSON.stringify({ error: { ...form, message: error.message, details: detailsOf(error) } });
}

function detailsOf(error: A2AError): readonly object[] {
  const { reason } = ERROR_TABLE[error.code];
  const { metadata, violations } = error;
  const details: object[] = [{ "@type": ERROR_INFO, reason, domain: "a2a-protocol.org", metadata }];
  if (violations.length > 0) {
    details.push({ "@type": BAD_REQUEST, fieldViolations: violations });
  }
  return details;
}

/**
 * The error an agent tells, whatever its form: the members of JSON-RPC or of REST, or a problem by RFC 9457. What it is, the
 * reason says first, then the code, and the status only where there is neither. Never throws: an error that cannot be read
 * is still one.
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

/** Parsed from JSON, as everything here. */
function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
