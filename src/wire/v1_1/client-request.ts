import { generationOf } from "../../protocol/generation.ts";
import type { ClientRequest, RestCall, RpcCall } from "../client/client-codec.ts";
import { encodeRestRequest as encodeOlderRest, encodeRpcRequest as encodeOlderRpc } from "../v1_0/client-request.ts";

interface SendParams {
  readonly configuration?: object;
}

export function encodeRpcRequest(request: ClientRequest): RpcCall {
  const call = encodeOlderRpc(request);
  if (request.operation !== "get") return { ...call, params: withCondition(request, call.params) };
  const { waitAfterSeq } = request;
  if (waitAfterSeq === undefined) return call;
  // Safe: 1.0 writes an object.
  const params = JSON.parse(call.params) as object;
  return { ...call, params: JSON.stringify({ ...params, currentGeneration: textOf(waitAfterSeq) }) };
}

export function encodeRestRequest(request: ClientRequest): RestCall {
  const call = encodeOlderRest(request);
  if (request.operation === "get" && request.waitAfterSeq !== undefined) {
    const separator = call.path.includes("?") ? "&" : "?";
    return { ...call, path: `${call.path}${separator}currentGeneration=${textOf(request.waitAfterSeq)}` };
  }
  return call.body === undefined ? call : { ...call, body: withCondition(request, call.body) };
}

/** The parameters of a send, with `ifGenerationMatch` in its configuration; other parameters as they are. */
function withCondition(request: ClientRequest, params: string): string {
  if (!("expectedSeq" in request) || request.expectedSeq === undefined) return params;
  // Safe: 1.0 writes an object.
  const { configuration, ...rest } = JSON.parse(params) as SendParams;
  return JSON.stringify({
    ...rest,
    configuration: { ...configuration, ifGenerationMatch: textOf(request.expectedSeq) },
  });
}

/** ProtoJSON writes an int64 as text. */
function textOf(seq: number): string {
  return String(generationOf(seq));
}
