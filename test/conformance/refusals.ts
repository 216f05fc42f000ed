/** The codes and statuses of one error, by binding and edition. */
export interface RefusalRow {
  readonly code: number;
  /** The machine-readable reason in 1.0. */
  readonly reason: string;
  /** The canonical status name, by edition of 1.0. */
  readonly status: { readonly "1.0.1": string; readonly "1.0.0": string };
  /** The HTTP status of a JSON-RPC response. */
  readonly rpcHttp: number;
  /** The HTTP status of a REST response, by edition. */
  readonly http: { readonly "1.0.1": number; readonly "1.0.0": number; readonly "0.3": number };
}

export type Edition = keyof RefusalRow["http"];

interface Row {
  readonly code: number;
  readonly reason: string;
  readonly status: string;
  /** The status of the first edition, if it differs. */
  readonly firstStatus?: string;
  readonly http: number | readonly [newest: number, first: number, old: number];
  readonly rpcHttp?: number;
}

function row({ code, reason, status, firstStatus = status, http, rpcHttp = 200 }: Row): RefusalRow {
  const [newest, first, old] = typeof http === "number" ? [http, http, http] : http;
  return {
    code,
    reason,
    status: { "1.0.1": status, "1.0.0": firstStatus },
    rpcHttp,
    http: { "1.0.1": newest, "1.0.0": first, "0.3": old },
  };
}

const NAMES = [
  "ParseError",
  "InvalidRequest",
  "MethodNotFound",
  "InvalidParams",
  "TaskNotFound",
  "TaskNotCancelable",
  "PushNotificationNotSupported",
  "UnsupportedOperation",
  "ContentTypeNotSupported",
  "ExtendedCardNotConfigured",
  "ExtensionSupportRequired",
  "VersionNotSupported",
  "Unauthenticated",
  "PermissionDenied",
  "ResourceExhausted",
] as const;

/** Codes with another meaning before 0.2. */
const EARLY_NAMES = ["StreamingNotSupported", "InvalidTaskState"] as const;

export type RefusalName = (typeof NAMES)[number] | (typeof EARLY_NAMES)[number];

/** Every error that this suite can provoke, as the protocol defines it. */
export const REFUSALS: Readonly<Record<RefusalName, RefusalRow>> = {
  ParseError: row({ code: -32700, reason: "PARSE_ERROR", status: "INVALID_ARGUMENT", http: 400, rpcHttp: 400 }),
  InvalidRequest: row({ code: -32600, reason: "INVALID_REQUEST", status: "INVALID_ARGUMENT", http: 400 }),
  MethodNotFound: row({ code: -32601, reason: "METHOD_NOT_FOUND", status: "UNIMPLEMENTED", http: 404 }),
  InvalidParams: row({ code: -32602, reason: "INVALID_PARAMS", status: "INVALID_ARGUMENT", http: 400 }),
  TaskNotFound: row({ code: -32001, reason: "TASK_NOT_FOUND", status: "NOT_FOUND", http: 404 }),
  TaskNotCancelable: row({
    code: -32002,
    reason: "TASK_NOT_CANCELABLE",
    status: "FAILED_PRECONDITION",
    http: [400, 409, 409],
  }),
  PushNotificationNotSupported: row({
    code: -32003,
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    status: "FAILED_PRECONDITION",
    firstStatus: "UNIMPLEMENTED",
    http: 400,
  }),
  UnsupportedOperation: row({
    code: -32004,
    reason: "UNSUPPORTED_OPERATION",
    status: "FAILED_PRECONDITION",
    firstStatus: "UNIMPLEMENTED",
    http: 400,
  }),
  ContentTypeNotSupported: row({
    code: -32005,
    reason: "CONTENT_TYPE_NOT_SUPPORTED",
    status: "INVALID_ARGUMENT",
    http: [400, 415, 415],
  }),
  ExtendedCardNotConfigured: row({
    code: -32007,
    reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    status: "FAILED_PRECONDITION",
    http: [400, 400, 404],
  }),
  ExtensionSupportRequired: row({
    code: -32008,
    reason: "EXTENSION_SUPPORT_REQUIRED",
    status: "FAILED_PRECONDITION",
    http: 400,
  }),
  VersionNotSupported: row({
    code: -32009,
    reason: "VERSION_NOT_SUPPORTED",
    status: "FAILED_PRECONDITION",
    firstStatus: "UNIMPLEMENTED",
    http: 400,
  }),
  Unauthenticated: row({
    code: -32055,
    reason: "UNAUTHENTICATED",
    status: "UNAUTHENTICATED",
    http: 401,
    rpcHttp: 401,
  }),
  PermissionDenied: row({
    code: -32056,
    reason: "PERMISSION_DENIED",
    status: "PERMISSION_DENIED",
    http: 403,
    rpcHttp: 403,
  }),
  ResourceExhausted: row({
    code: -32053,
    reason: "RESOURCE_EXHAUSTED",
    status: "RESOURCE_EXHAUSTED",
    http: 503,
  }),
  StreamingNotSupported: row({
    code: -32006,
    reason: "UNSUPPORTED_OPERATION",
    status: "FAILED_PRECONDITION",
    http: 400,
  }),
  InvalidTaskState: row({ code: -32009, reason: "INVALID_TRANSITION", status: "FAILED_PRECONDITION", http: 400 }),
};

/** An error that a caller received. The client has checked its format. */
export interface Refusal {
  readonly name: RefusalName;
  readonly message: string;
  /** ErrorInfo's metadata in 1.0, the error's own data before. */
  readonly facts: unknown;
  /** Paths of the invalid fields, if the version reports them. */
  readonly fields: readonly string[];
}

export function refusalByCode(code: unknown): RefusalName | undefined {
  return NAMES.find((name) => REFUSALS[name].code === code);
}

export function refusalByReason(reason: unknown): RefusalName | undefined {
  return NAMES.find((name) => REFUSALS[name].reason === reason);
}
