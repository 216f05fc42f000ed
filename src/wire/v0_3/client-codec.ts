import type { AgentCard } from "../../protocol/card.ts";
import { readAnswer } from "../client/agent-answer.ts";
import type { ClientCodec, RestClientCodec, RpcClientCodec } from "../client/client-codec.ts";
import { decodeCard } from "./card.ts";
import { encodeRestRequest, encodeRpcRequest } from "./client-request.ts";
import { decodeError } from "./error.ts";
import { decodeRemoteEvent } from "./event.ts";
import { decodeRemoteResult, type RemoteReaders } from "./remote-result.ts";
import { remote } from "./task.ts";

/** Shared by JSON-RPC and REST. Answers may be bare or wrapped in either binding, because agents differ. */
export function sharedByVersion(version: string): Omit<ClientCodec, "dialect"> {
  const card = (value: unknown): AgentCard => decodeCard(value, version);
  const readers: RemoteReaders = { task: remote.task, event: decodeRemoteEvent, card };
  return {
    version,
    decodeResult: (operation, value) => readAnswer(() => decodeRemoteResult(operation, value, readers)),
    decodeEvent: (value) => readAnswer(() => decodeRemoteEvent(value)),
    decodeError,
  };
}

/** The client side of JSON-RPC 0.3 (A2A 0.3 §3.2.1). */
export function createRpcClientCodec(): RpcClientCodec {
  return {
    ...sharedByVersion("0.3"),
    dialect: "0.3/jsonrpc",
    encodeRequest: (request) => encodeRpcRequest(request),
  };
}

/** REST in JSON style: the objects of JSON-RPC. */
export function createRestClientCodec(): RestClientCodec {
  return { ...sharedByVersion("0.3"), dialect: "0.3/rest-json", encodeRequest: encodeRestRequest };
}
