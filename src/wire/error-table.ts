// The names and numbers of every error in every dialect (A2A 1.0 §5.4, §9.5, §11.6; A2A 0.3 §8.2). Versions with numbers of their own, such
// as 0.1, override single entries in their `error.ts`.

import { ERROR_CODES, type ErrorCode } from "../protocol/error.ts";

/** How one error is encoded. */
export interface ErrorRow {
  /** The JSON-RPC code. Errors that A2A does not define have codes from -32050 to -32099. */
  readonly rpc: number;
  /** `reason` of the ErrorInfo in 1.0: the value by which clients identify an error (A2A 1.0 §9.5, §11.6). */
  readonly reason: string;
  /** The gRPC status name in 1.0.1, and in 1.0.0. */
  readonly status: string;
  readonly statusFirstEdition: string;
  /** The HTTP status of a JSON-RPC answer: 200 for most errors once the envelope has been parsed. */
  readonly rpcHttp: number;
  /** The HTTP status of a REST answer in 1.0.1, in 1.0.0 and in 0.3. */
  readonly http: number;
  readonly httpFirstEdition: number;
  readonly http0_3: number;
}

/** One row as it is written below; `rowOf` expands it. A list has one value per edition, a single value applies to all. */
type Compact = readonly [
  rpc: number,
  reason: string,
  status: string | readonly [current: string, firstEdition: string],
  rpcHttp: number,
  http: number | readonly [current: number, firstEdition: number, http0_3: number],
];

/** 1.0.1 changed the gRPC status of these errors; 1.0.0 is still in use. */
const SINCE_1_0_1 = ["FAILED_PRECONDITION", "UNIMPLEMENTED"] as const;

/** Every error that a caller can get (A2A 1.0 §5.4). A single status applies to all editions. */
const TABLE: Readonly<Record<ErrorCode, Compact>> = {
  "parse-error": [-32700, "PARSE_ERROR", "INVALID_ARGUMENT", 400, 400],
  "invalid-request": [-32600, "INVALID_REQUEST", "INVALID_ARGUMENT", 200, 400],
  "method-not-found": [-32601, "METHOD_NOT_FOUND", "UNIMPLEMENTED", 200, 404],
  "method-not-allowed": [-32601, "METHOD_NOT_ALLOWED", "UNIMPLEMENTED", 405, 405],
  "invalid-params": [-32602, "INVALID_PARAMS", "INVALID_ARGUMENT", 200, 400],
  internal: [-32603, "INTERNAL", "INTERNAL", 200, 500],
  "task-not-found": [-32001, "TASK_NOT_FOUND", "NOT_FOUND", 200, 404],
  "task-not-cancelable": [-32002, "TASK_NOT_CANCELABLE", "FAILED_PRECONDITION", 200, [400, 409, 409]],
  "push-not-supported": [-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", SINCE_1_0_1, 200, 400],
  "unsupported-operation": [-32004, "UNSUPPORTED_OPERATION", SINCE_1_0_1, 200, 400],
  "content-type-not-supported": [-32005, "CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT", 200, [400, 415, 415]],
  "unsupported-media-type": [-32005, "CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT", 415, 415],
  "invalid-agent-response": [-32006, "INVALID_AGENT_RESPONSE", "INTERNAL", 200, [500, 502, 502]],
  "extended-card-not-configured": [
    -32007,
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    "FAILED_PRECONDITION",
    200,
    [400, 400, 404],
  ],
  "extension-support-required": [-32008, "EXTENSION_SUPPORT_REQUIRED", "FAILED_PRECONDITION", 200, 400],
  "version-not-supported": [-32009, "VERSION_NOT_SUPPORTED", SINCE_1_0_1, 200, 400],
  "resource-exhausted": [-32053, "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", 200, 503],
  "rate-limited": [-32054, "RATE_LIMITED", "RESOURCE_EXHAUSTED", 429, 429],
  "task-changed": [-32010, "TASK_GENERATION_MISMATCH", "ABORTED", 200, 409],
  conflict: [-32059, "CONFLICT", "ABORTED", 200, 409],
  "loop-detected": [-32060, "LOOP_DETECTED", "FAILED_PRECONDITION", 200, 508],
  unauthenticated: [-32055, "UNAUTHENTICATED", "UNAUTHENTICATED", 401, 401],
  "permission-denied": [-32056, "PERMISSION_DENIED", "PERMISSION_DENIED", 403, 403],
  unavailable: [-32057, "UNAVAILABLE", "UNAVAILABLE", 503, 503],
  "payload-too-large": [-32058, "PAYLOAD_TOO_LARGE", "INVALID_ARGUMENT", 413, 413],
};

/** The encoding of every error in every dialect. */
export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorRow>> = mapValues(TABLE, rowOf);

function rowOf([rpc, reason, name, rpcHttp, rest]: Compact): ErrorRow {
  const [status, statusFirstEdition] = typeof name === "string" ? [name, name] : name;
  const [http, httpFirstEdition, http0_3] = typeof rest === "number" ? [rest, rest, rest] : rest;
  return { rpc, reason, status, statusFirstEdition, rpcHttp, http, httpFirstEdition, http0_3 };
}

function mapValues<K extends string, A, B>(record: Readonly<Record<K, A>>, map: (value: A) => B): Record<K, B> {
  const entries = Object.entries<A>(record).map(([key, value]) => [key, map(value)] as const);
  // Safe: the keys are those of the record.
  return Object.fromEntries(entries) as Record<K, B>;
}

/** For answers that have an HTTP status and no readable error. */
const STATUS_CODES: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [401, "unauthenticated"],
  [403, "permission-denied"],
  [404, "task-not-found"],
  [405, "method-not-allowed"],
  [409, "task-not-cancelable"],
  [413, "payload-too-large"],
  [415, "unsupported-media-type"],
  [429, "rate-limited"],
  [501, "unsupported-operation"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "unavailable"],
  [508, "loop-detected"],
]);

/** The error for an HTTP status. Other statuses: `invalid-request` for 4xx, `internal` for the rest. */
export function codeOfStatus(status: number): ErrorCode {
  return STATUS_CODES.get(status) ?? (status >= 400 && status < 500 ? "invalid-request" : "internal");
}

const CODES_BY_REASON = indexed(({ reason }) => reason);
const CODES_BY_RPC = indexed(({ rpc }) => rpc);

/** The error with that `reason`; `undefined` for an unknown reason. If two errors share a reason, the first in `ERROR_CODES`. */
export function codeOfReason(reason: unknown): ErrorCode | undefined {
  return CODES_BY_REASON.get(reason);
}

/** The error with that JSON-RPC code; `undefined` for an unknown code. */
export function codeOfRpc(rpc: unknown): ErrorCode | undefined {
  return CODES_BY_RPC.get(rpc);
}

function indexed(keyOf: (row: ErrorRow) => unknown): ReadonlyMap<unknown, ErrorCode> {
  // From the end, so that the first of two errors with the same key wins.
  return new Map(ERROR_CODES.toReversed().map((code) => [keyOf(ERROR_TABLE[code]), code]));
}
