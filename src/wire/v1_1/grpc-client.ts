import type { GrpcClientRow } from "../client/grpc-client-codec.ts";
import { createGrpcClientRow as createOlderRow } from "../v1_0/grpc-client.ts";
import { createRpcClientCodec } from "./client-codec.ts";
import { encodeRpcRequest } from "./client-request.ts";
import { FIELDS } from "./grpc.ts";

export function createGrpcClientRow(): GrpcClientRow {
  return {
    ...createOlderRow(),
    dialect: "1.1/grpc",
    fields: FIELDS,
    encodeRequest(request) {
      const params: unknown = JSON.parse(encodeRpcRequest(request).params);
      return params;
    },
    text: createRpcClientCodec(),
  };
}
