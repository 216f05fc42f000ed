import type { GrpcClientRow } from "../client/grpc-client-codec.ts";
import { createRpcClientCodec } from "./client-codec.ts";
import { encodeRpcRequest } from "./client-request.ts";
import { METHODS, SERVICE } from "./grpc.ts";

/** The requests of JSON-RPC are the ProtoJSON of the requests of gRPC. */
export function createGrpcClientRow(): GrpcClientRow {
  return {
    dialect: "1.0/grpc",
    service: SERVICE,
    methods: METHODS,
    encodeRequest(request) {
      const params: unknown = JSON.parse(encodeRpcRequest(request).params);
      return params;
    },
    text: createRpcClientCodec(),
  };
}
