import { A2AError, type ErrorCode } from "../../protocol/error.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { AddedField, GrpcMethod, GrpcStatus } from "../grpc-codec.ts";
import type { ClientCodec, ClientRequest, RemoteEvent, RemoteResult } from "./client-codec.ts";

/** The client side of one version over gRPC. */
export interface GrpcClientCodec {
  /** Version and binding: `1.0/grpc`. */
  readonly dialect: string;
  readonly version: string;
  /** Throws an `A2AError` of code `unsupported-operation` if the version has no such method. */
  encodeRequest(request: ClientRequest): GrpcClientCall;
  decodeResult(operation: Operation, message: Uint8Array): RemoteResult;
  /** The card that an answer contains, as JSON. */
  cardJson(message: Uint8Array): unknown;
  /** Decodes a card from JSON. */
  decodeCard(json: unknown): RemoteResult;
  /** An event, and its id if the agent numbers its events. */
  decodeEvent(message: Uint8Array): { readonly id: string | undefined; readonly event: RemoteEvent };
  /** Never throws. */
  decodeStatus(status: GrpcStatus, operation: Operation): A2AError;
}

export interface GrpcClientCall {
  /** `/service/method`. */
  readonly path: string;
  readonly message: Uint8Array<ArrayBuffer>;
}

/** What one version defines for clients, without the bytes. */
export interface GrpcClientRow {
  readonly dialect: string;
  readonly service: string;
  readonly methods: Partial<Readonly<Record<Operation, GrpcMethod>>>;
  /** As in `GrpcRow`. */
  readonly fields?: readonly AddedField[];
  /** The ProtoJSON of a request. */
  encodeRequest(request: ClientRequest): unknown;
  readonly text: ClientCodec;
  /** The error that the text of a status names; `undefined` if it names none. */
  namedError?(message: string): { readonly code: ErrorCode; readonly message: string } | undefined;
}

/** The error for a gRPC status, where nothing says more. */
const CODES: readonly ErrorCode[] = [
  ...(["internal", "unavailable", "internal", "invalid-params", "unavailable", "task-not-found"] as const),
  ...(["conflict", "permission-denied", "resource-exhausted", "unsupported-operation", "conflict"] as const),
  ...(["invalid-params", "unsupported-operation", "internal", "unavailable", "internal", "unauthenticated"] as const),
];

const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;

/** The texts of gRPC libraries for a method that a server does not have. Agents use the same status for operations they refuse. */
const UNKNOWN_METHOD = /does not implement the method|unknown (?:service|method)|method not found/i;

/** The error for a gRPC status. Some statuses stand for several errors, of which the operation selects one. */
export function codeOfGrpc({ code, message }: GrpcStatus, operation: Operation): ErrorCode {
  if (code === FAILED_PRECONDITION && operation === "cancel") return "task-not-cancelable";
  if (code === FAILED_PRECONDITION && operation === "extended-card") return "extended-card-not-configured";
  if (code === UNIMPLEMENTED && UNKNOWN_METHOD.test(message)) return "method-not-found";
  if (code === UNIMPLEMENTED && operation.startsWith("push-")) return "push-not-supported";
  return CODES[code] ?? "internal";
}

/** For operations that a version does not define. */
export function notInVersion(operation: Operation, dialect: string): A2AError {
  return new A2AError("unsupported-operation", `${operation} is not defined in ${dialect}`);
}
