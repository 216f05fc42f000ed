import type { Presenter } from "../call/answer-call.ts";
import { presentErrorEvent, presentStream } from "../sse/present-stream.ts";
import { presentError } from "../text/present-error.ts";
import { presentResult } from "../text/present-result.ts";
import { identifyRpcRequest, readRpcRequest } from "./read-request.ts";
import type { RpcCall } from "./rpc-call.ts";

/** JSON-RPC 2.0 over HTTP; streams are Server-Sent Events of JSON-RPC responses. */
export const RPC_PRESENTER: Presenter<RpcCall> = {
  read: readRpcRequest,
  identify: identifyRpcRequest,
  result: presentResult,
  stream: (endpoint, call, stream) => presentStream(endpoint, call, { ...stream, namesEvents: call.namesEvents }),
  error(call, error) {
    const status = call.codec.statusOf(error);
    // Every client notices an HTTP status that is not 200; only errors with status 200 need an event.
    return call.errorAsEvent && status === 200 ? presentErrorEvent(call, error, status) : presentError(call, error);
  },
};
