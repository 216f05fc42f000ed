import { A2AError, type ErrorCode } from "../../protocol/error.ts";
import { codeOfReason, ERROR_TABLE } from "../error-table.ts";
import { type FieldNames, withFieldNames } from "../fields/error-fields.ts";
import { isWireObject } from "../fields/fields.ts";
import { decodeError as decodeNewer, errorData } from "../v0_3/error.ts";
import { stateName } from "./task.ts";

/** The codes of A2A 0.1 §8.2 that later versions dropped. Later versions reuse -32006 to -32009 for other errors. */
const STREAMING_NOT_SUPPORTED = -32006;
const AUTHENTICATION_REQUIRED = -32007;
const AUTHORIZATION_FAILED = -32008;
const INVALID_TASK_STATE = -32009;
const RATE_LIMIT_EXCEEDED = -32010;
const RESOURCE_UNAVAILABLE = -32011;

/** Errors with codes of their own in 0.1, and errors of later versions whose codes have another meaning or none in 0.1. */
const CODES: Partial<Readonly<Record<ErrorCode, number>>> = {
  unauthenticated: AUTHENTICATION_REQUIRED,
  "permission-denied": AUTHORIZATION_FAILED,
  "rate-limited": RATE_LIMIT_EXCEEDED,
  "resource-exhausted": RESOURCE_UNAVAILABLE,
  unavailable: RESOURCE_UNAVAILABLE,
  "invalid-agent-response": ERROR_TABLE.internal.rpc,
  "extended-card-not-configured": ERROR_TABLE["unsupported-operation"].rpc,
  "extension-support-required": ERROR_TABLE["invalid-params"].rpc,
  "version-not-supported": ERROR_TABLE["invalid-request"].rpc,
  "task-changed": ERROR_TABLE.conflict.rpc,
};

/** The names of 0.1 for the fields that errors of the server core mention. */
const FIELDS: FieldNames = [
  ["message.contextId", "sessionId"],
  ["message.taskId", "id"],
  ["configuration.acceptedOutputModes", "acceptedOutputModes"],
  ["configuration.pushNotificationConfig", "pushNotification"],
];

/** The `error` member of a JSON-RPC response. */
export function encodeError(neutral: A2AError): string {
  const error = withOwnStates(withFieldNames(neutral, FIELDS));
  const { code = CODES[error.code] ?? ERROR_TABLE[error.code].rpc, ...reason } = unsupported(error);
  return JSON.stringify({ code, message: error.message, data: { ...errorData(error), ...reason } });
}

/** Converts the state in the message and metadata of an error to a state of 0.1. */
function withOwnStates(error: A2AError): A2AError {
  const { code, message, metadata, violations, data } = error;
  const { state } = metadata;
  if (state === undefined || stateName(state) === state) return error;
  const own = stateName(state);
  return new A2AError(code, message.replace(`(${state})`, `(${own})`), {
    metadata: { ...metadata, state: own },
    violations,
    ...(data !== undefined && { data }),
  });
}

/** 0.1 has separate codes for missing streaming and for invalid task states, which later versions have not. */
function unsupported({ code, metadata }: A2AError): { readonly code?: number; readonly reason?: string } {
  if (code !== "unsupported-operation") return {};
  if (metadata["capability"] === "streaming") return { code: STREAMING_NOT_SUPPORTED };
  if (metadata["state"] !== undefined) return { code: INVALID_TASK_STATE, reason: "INVALID_TRANSITION" };
  return {};
}

/** Codes that have another meaning in later versions. */
const OWN_CODES: ReadonlyMap<unknown, ErrorCode> = new Map<unknown, ErrorCode>([
  [STREAMING_NOT_SUPPORTED, "unsupported-operation"],
  [AUTHENTICATION_REQUIRED, "unauthenticated"],
  [AUTHORIZATION_FAILED, "permission-denied"],
  [INVALID_TASK_STATE, "unsupported-operation"],
  [RATE_LIMIT_EXCEEDED, "rate-limited"],
  [RESOURCE_UNAVAILABLE, "resource-exhausted"],
]);

/** Decodes an agent's error by its reason, else its code, else the HTTP status. Never throws. */
export function decodeError(value: unknown, httpStatus: number): A2AError {
  const error = decodeNewer(value, httpStatus);
  const code = OWN_CODES.get(numberOf(value));
  const reason = error.data?.["reason"];
  if (code === undefined || (typeof reason === "string" && codeOfReason(reason) !== undefined)) return error;
  const { message, metadata, violations, data } = error;
  return new A2AError(code, message, { metadata, violations, ...(data !== undefined && { data }) });
}

/** The JSON-RPC code of an error object, or of the response that contains it. */
function numberOf(value: unknown): unknown {
  if (!isWireObject(value)) return undefined;
  return isWireObject(value["error"]) ? value["error"]["code"] : value["code"];
}
