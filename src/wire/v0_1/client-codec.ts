import { readAnswer } from "../client/agent-answer.ts";
import type { RpcClientCodec } from "../client/client-codec.ts";
import { encodeRpcRequest } from "./client-request.ts";
import { decodeError } from "./error.ts";
import { decodeRemoteEvent } from "./event.ts";
import type { NewId } from "./message.ts";
import { decodeRemoteResult } from "./remote-result.ts";

/** `newId` generates the ids of new tasks, which the caller chooses in 0.1. */
export function createRpcClientCodec(newId: NewId = () => crypto.randomUUID()): RpcClientCodec {
  return {
    dialect: "0.1/jsonrpc",
    version: "0.1",
    encodeRequest: (request) => encodeRpcRequest(request, newId),
    decodeResult: (operation, value) => readAnswer(() => decodeRemoteResult(operation, value)),
    decodeEvent: (value) => readAnswer(() => decodeRemoteEvent(value)),
    decodeError,
  };
}
