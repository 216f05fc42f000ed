import type { ErrorCode } from "palaver";
import type { ErrorName } from "./client-line.ts";

/** The meaning of JSON-RPC error codes. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  [-32700]: "parse-error",
  [-32600]: "invalid-request",
  [-32601]: "method-not-found",
  [-32602]: "invalid-params",
  [-32603]: "internal",
  [-32001]: "task-not-found",
  [-32002]: "task-not-cancelable",
  [-32003]: "push-not-supported",
  [-32004]: "unsupported-operation",
  [-32005]: "content-type-not-supported",
  [-32007]: "extended-card-not-configured",
  [-32008]: "extension-support-required",
  [-32009]: "version-not-supported",
  [-32053]: "resource-exhausted",
  [-32055]: "unauthenticated",
  [-32056]: "permission-denied",
  [-32058]: "payload-too-large",
};

/** The meaning of HTTP statuses, for clients that keep nothing else. */
const STATUSES: Readonly<Record<number, ErrorCode>> = {
  401: "unauthenticated",
  403: "permission-denied",
  413: "payload-too-large",
  500: "internal",
  503: "resource-exhausted",
};

/** The meaning of gRPC statuses, for errors without a type. */
const GRPC_CODES: Readonly<Record<number, ErrorCode>> = {
  3: "invalid-params",
  7: "permission-denied",
  8: "resource-exhausted",
  9: "unsupported-operation",
  12: "unsupported-operation",
  13: "internal",
  16: "unauthenticated",
};

type ErrorClass = abstract new (...args: never[]) => Error;

export interface ErrorVocabulary {
  /** The client's own error types. */
  readonly classes: { readonly [code in ErrorCode]?: ErrorClass };
  /** The JSON-RPC code of an error, in this client's member. */
  codeOf(error: Error): number | undefined;
  /** The HTTP status of an error. */
  statusOf?(error: Error): number | undefined;
  /** The error that the text of a gRPC status names. */
  grpcNameOf?(error: Error): ErrorCode | undefined;
  /** The gRPC status of an error. */
  grpcCodeOf?(error: Error): number | undefined;
}

/**
 * Names an error by the client's own type, or by its code if the client has no type for it. Streams wrap errors as a
 * cause.
 */
export function nameError(thrown: unknown, vocabulary: ErrorVocabulary): ErrorName {
  if (!(thrown instanceof Error)) return `unknown: ${String(thrown)}`;
  const { classes } = vocabulary;
  const inner = thrown.cause instanceof Error ? thrown.cause : thrown;
  const byNumber =
    CODES[vocabulary.codeOf(inner) ?? vocabulary.codeOf(thrown) ?? 0] ?? STATUSES[vocabulary.statusOf?.(inner) ?? 0];
  const byGrpc =
    vocabulary.grpcNameOf?.(thrown) ??
    GRPC_CODES[vocabulary.grpcCodeOf?.(inner) ?? vocabulary.grpcCodeOf?.(thrown) ?? -1];
  const byClass = Object.entries(classes).find(([, type]) => inner instanceof type)?.[0] as ErrorCode | undefined;
  // One type may represent several codes, but was made for one.
  if (byClass !== undefined) return byNumber !== undefined && classes[byNumber] === undefined ? byNumber : byClass;
  if (byNumber === undefined && byGrpc !== undefined) return byGrpc;
  if (byNumber === undefined) return `unknown: ${thrown.name} ${thrown.message}`;
  return classes[byNumber] === undefined ? byNumber : `untyped ${byNumber}`;
}
