import { A2AError } from "../../protocol/error.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { ByteString } from "../byte-string.ts";
import { GRPC_CODES, type GrpcCodec, type GrpcRow, STREAM_TYPE } from "../grpc-codec.ts";
import type { ProtoType } from "../proto-type.ts";
import { textChunkIn } from "../text-chunk.ts";
import { EVENT_ID } from "./event-id.ts";
import type { ProtoTypes } from "./proto-types.ts";
import { stringField } from "./string-field.ts";

/** Adds the bytes of protobuf to a version. */
export function createGrpcCodec(row: GrpcRow, types: ProtoTypes): GrpcCodec {
  const { text } = row;
  const packageName = row.service.slice(0, row.service.lastIndexOf("."));
  const nameOf = (name: string): string => (name.includes(".") ? name : `${packageName}.${name}`);
  const requests = new Map<Operation, ProtoType>();
  const answers = new Map<Operation, (json: unknown) => ByteString>();
  const operations = new Map<string, Operation>();
  for (const [name, method] of Object.entries(row.methods)) {
    // Safe: the keys of the table are operations.
    const operation = name as Operation;
    operations.set(method.name, operation);
    requests.set(operation, types.type(nameOf(method.request)));
    answers.set(operation, types.writer(nameOf(method.answer)));
  }
  const writeStream = types.writer(nameOf(STREAM_TYPE));
  const statusType = types.type("google.rpc.Status");
  // The chunks of a version with further fields are not only text.
  const writeChunk = row.fields === undefined ? types.textChunkWriter(nameOf(STREAM_TYPE)) : undefined;
  const encodeEvent: GrpcCodec["eventBytes"] = (event, place) => {
    const chunk = event.state === undefined && writeChunk !== undefined ? textChunkIn(event.body) : undefined;
    // Safe: the writer writes one character for each byte.
    if (chunk !== undefined && writeChunk !== undefined) return writeChunk(chunk, place, event.seq) as ByteString;
    return writeStream({ ...parsed(text.encodeEvent(event, place)), [EVENT_ID]: String(event.seq) });
  };

  return {
    ...text,
    operationOf: (method) => operations.get(method),
    tenantOf(operation, message) {
      const field = row.methods[operation]?.tenant;
      return field === undefined ? "" : stringField(message, field);
    },
    decodeRequest: (operation, message) => row.decodeRequest(operation, decoded(requests.get(operation), message)),
    resultBytes(operation, json) {
      const write = answers.get(operation);
      if (write === undefined) throw new TypeError(`No gRPC method is defined for ${operation}.`);
      return write(parsed(json) ?? {});
    },
    openingBytes: (json, eventId) =>
      writeStream(eventId === undefined ? parsed(json) : { ...parsed(json), [EVENT_ID]: eventId }),
    eventBytes: cachedBytes(text.dialect, encodeEvent),
    grpcStatus(error) {
      const { name, message } = row.status(error);
      const code = GRPC_CODES.indexOf(name);
      const details = row.details?.(error);
      if (details === undefined) return { code, message };
      return { code, message, details: statusType.encode({ code, message, details }) };
    },
  };
}

/** Safe: a codec wrote this text, and it is an object or null. */
function parsed(json: string): object {
  return JSON.parse(json) as object;
}

function decoded(type: ProtoType | undefined, message: Uint8Array): unknown {
  if (type === undefined) throw new A2AError("method-not-found", "Method not found");
  try {
    return type.decode(message);
  } catch (cause) {
    throw new A2AError("parse-error", "The message is not valid protobuf of this method's request", { cause });
  }
}

/** Encodes an event once for all its readers. The last event of a stream may differ from the same event within other streams. */
function cachedBytes(key: string, encode: GrpcCodec["eventBytes"]): GrpcCodec["eventBytes"] {
  return (event, place) => {
    const { encoded } = event;
    if (encoded === undefined || place.final) return encode(event, place);
    const cached = encoded.get(key);
    // Safe: only this function uses the key.
    if (cached !== undefined) return cached as ByteString;
    const bytes = encode(event, place);
    encoded.set(key, bytes);
    return bytes;
  };
}
