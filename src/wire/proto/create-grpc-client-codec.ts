import { A2AError } from "../../protocol/error.ts";
import { readAnswer } from "../client/agent-answer.ts";
import { codeOfGrpc, type GrpcClientCodec, type GrpcClientRow, notInVersion } from "../client/grpc-client-codec.ts";
import { STREAM_TYPE } from "../grpc-codec.ts";
import type { ProtoType } from "../proto-type.ts";
import { EVENT_ID } from "./event-id.ts";
import type { ProtoTypes } from "./proto-types.ts";

/** Adds the bytes of protobuf to the client side of a version. */
export function createGrpcClientCodec(row: GrpcClientRow, types: ProtoTypes): GrpcClientCodec {
  const { dialect, service, methods, text } = row;
  const packageName = service.slice(0, service.lastIndexOf("."));
  const typeOf = (name: string): ProtoType => types.type(name.includes(".") ? name : `${packageName}.${name}`);
  const streamType = typeOf(STREAM_TYPE);
  const statusType = types.type("google.rpc.Status");
  return {
    dialect,
    version: text.version,
    encodeRequest(request) {
      const method = methods[request.operation];
      if (method === undefined) throw notInVersion(request.operation, dialect);
      const message = typeOf(method.request).encode(row.encodeRequest(request));
      return { path: `/${service}/${method.name}`, message };
    },
    decodeResult(operation, message) {
      const method = methods[operation];
      if (method === undefined) throw notInVersion(operation, dialect);
      const json = decoded(typeOf(method.answer), message);
      return readAnswer(() => text.decodeResult(operation, json));
    },
    cardJson: (message) => decoded(typeOf("AgentCard"), message),
    decodeCard: (json) => readAnswer(() => text.decodeResult("extended-card", json)),
    decodeEvent(message) {
      // Safe: ProtoJSON of a message is an object.
      const json = decoded(streamType, message) as Readonly<Record<string, unknown>>;
      const id = json[EVENT_ID];
      return { id: typeof id === "string" ? id : undefined, event: text.decodeEvent(json) };
    },
    decodeStatus(status, operation) {
      const { code, message, details } = status;
      const named = row.namedError?.(message);
      if (named !== undefined) return new A2AError(named.code, named.message);
      const usual = new A2AError(
        codeOfGrpc(status, operation),
        message || `The agent answered with gRPC status ${code}`,
      );
      if (details === undefined) return usual;
      try {
        // Safe: ProtoJSON of `google.rpc.Status`.
        const json = statusType.decode(details) as { readonly details?: readonly object[] };
        const isNamed = json.details?.some((detail) => "reason" in detail) === true;
        return isNamed ? text.decodeError({ error: { message, details: json.details } }, 0) : usual;
      } catch {
        return usual;
      }
    },
  };
}

function decoded(type: ProtoType, message: Uint8Array): unknown {
  try {
    return type.decode(message);
  } catch (cause) {
    throw new A2AError("invalid-agent-response", "The agent's answer is not valid protobuf", { cause });
  }
}
