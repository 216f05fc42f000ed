import type { RpcClientCodec } from "../client/client-codec.ts";
import { sharedByVersion } from "../v0_3/client-codec.ts";
import { encodeRpcRequest0_2 } from "../v0_3/client-request.ts";
import { METHOD_OF } from "./methods.ts";

/**
 * The client side of JSON-RPC 0.2: that of 0.3, always with `acceptedOutputModes`, and without a method for the extended card, which is
 * fetched by a path (`extendedCardPath` in `DialectTraits`).
 */
export function createRpcClientCodec(): RpcClientCodec {
  return {
    ...sharedByVersion("0.2"),
    dialect: "0.2/jsonrpc",
    encodeRequest: (request) => encodeRpcRequest0_2(request, METHOD_OF),
  };
}
