import type { A2AError } from "../protocol/error.ts";
import type { Operation, OperationRequest } from "../protocol/operation.ts";
import type { ByteString } from "./byte-string.ts";
import type { Choice, Codec, EventPlace, EventText } from "./codec.ts";

/**
 * One version over gRPC. Its JSON texts are the ProtoJSON of the version's messages (`Codec`); this adds their bytes. Decoders throw an
 * `A2AError` that names the invalid field.
 */
export interface GrpcCodec extends Codec {
  /** `undefined` if this version does not define the method. */
  operationOf(method: string): Operation | undefined;
  /** The tenant that a request names, without decoding the rest; empty if it names none. */
  tenantOf(operation: Operation, message: Uint8Array): string;
  decodeRequest(operation: Operation, message: Uint8Array): OperationRequest;
  /** The bytes of `encodeResult`. */
  resultBytes(operation: Operation, json: string): ByteString;
  /** The bytes of `encodeOpening`, with the id of the event that it reflects, if it has one. */
  openingBytes(json: string, eventId: string | undefined): ByteString;
  /** The bytes of a later event. Cached like its text. */
  eventBytes(event: EventText & { readonly seq: number }, place: EventPlace): ByteString;
  grpcStatus(error: A2AError): GrpcStatus;
}

/** The status that ends a call. */
export interface GrpcStatus {
  /** 0 to 16. */
  readonly code: number;
  readonly message: string;
  /** A `google.rpc.Status`. Absent: the version has none. */
  readonly details?: Uint8Array;
}

/** One service: all operations of one version. */
export interface GrpcFamily {
  /** With its package: `lf.a2a.v1.A2AService`. */
  readonly service: string;
  /** How requests of this version name one of several agents. */
  readonly agentBy: "tenant" | "authority";
  /** The codec for a request, by the requested version. Never throws. */
  choose(requested: string | undefined): Choice<GrpcCodec>;
}

/** What one version defines for gRPC, without the bytes. */
export interface GrpcRow {
  readonly service: string;
  readonly agentBy: GrpcFamily["agentBy"];
  readonly methods: Partial<Readonly<Record<Operation, GrpcMethod>>>;
  /** The fields that the version adds to the messages of its service. Absent: none. */
  readonly fields?: readonly AddedField[];
  /** Decodes the ProtoJSON of a request. */
  decodeRequest(operation: Operation, json: unknown): OperationRequest;
  /** The ProtoJSON of answers, events and errors. */
  readonly text: Codec;
  /** The status name of an error, and its text. */
  status(error: A2AError): { readonly name: string; readonly message: string };
  /** The details of an error: ProtoJSON of `google.protobuf.Any`. Absent: none. */
  details?(error: A2AError): readonly object[];
}

/** An `int64` field that a version adds to a message of `proto/`. */
export interface AddedField {
  /** With its package: `lf.a2a.v1.Task`. */
  readonly message: string;
  readonly name: string;
  readonly number: number;
  /** Absent and 0 differ. Default false. */
  readonly optional?: boolean;
}

export interface GrpcMethod {
  readonly name: string;
  /** Message types, without the package; with it if they are of another one. */
  readonly request: string;
  readonly answer: string;
  /** The field number of the tenant in the request. Absent: the request has none. */
  readonly tenant?: number;
}

/** The type of the events of a stream, without the package. */
export const STREAM_TYPE = "StreamResponse";

/** The codes of gRPC, by name. */
export const GRPC_CODES: readonly string[] = [
  ...["OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"],
  ...["PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"],
  ...["INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"],
];
