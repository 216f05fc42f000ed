import { A2AError } from "../../protocol/error.ts";
import type { Operation, OperationRequest } from "../../protocol/operation.ts";
import { opensStream } from "../../server/task-stream.ts";
import type { RpcCodec } from "../../wire/codec.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange } from "../exchange.ts";
import { decodeRpcRequest, envelopeOf, methodOf, missingId, type RpcRequest } from "./envelope.ts";
import type { RpcCall } from "./rpc-call.ts";

/** The most bytes read of a refused request, only to answer in its version and with its id. */
const MAX_REFUSED_BYTES = 64 * 1024;

/** Reads the id, the version and the method of a request whose caller is refused. */
export async function identifyRpcRequest({ dialects, environment }: Endpoint, call: RpcCall): Promise<void> {
  const body = parseJson(await readRequestBody(environment, call.exchange, MAX_REFUSED_BYTES));
  call.envelope = envelopeOf(body);
  const method = methodOf(body);
  if (method === undefined) return;
  const { codec } = dialects.chooseRpc(call.requestedVersion, method);
  call.codec = codec;
  call.operation = codec.operationOf(method);
}

/** Throws or rejects with the first problem. */
export function readRpcRequest(endpoint: Endpoint, call: RpcCall): Promise<OperationRequest> {
  const { exchange } = call;
  requireJson(exchange);
  const { environment } = endpoint;
  return readRequestBody(environment, exchange, environment.maxBodyBytes).then((bytes) =>
    decodeRequest(endpoint, call, parseJson(bytes)),
  );
}

/** Checks the method, then the parameters, then the id; the first problem is reported. */
function decodeRequest(endpoint: Endpoint, call: RpcCall, body: unknown): OperationRequest {
  const { exchange, requestedVersion } = call;
  call.envelope = envelopeOf(body);
  const { method, params, hasId } = decodeEnvelope(endpoint, call, body);
  const { codec, refusal } = endpoint.dialects.chooseRpc(requestedVersion, method);
  call.codec = codec;
  if (refusal !== undefined) throw withMethod(method, refusal);
  const operation = operationOf(codec, method, exchange);
  if (operation === undefined) throw withMethod(method, new A2AError("method-not-found", "Method not found"));
  call.operation = operation;
  const request = codec.decodeRequest(operation, params);
  if (!hasId) throw missingId();
  call.errorAsEvent = opensStream(operation) && codec.streamErrorsAsEvents && readsOnlyEvents(exchange);
  return request;
}

/** A malformed envelope is answered in the version that its method name belongs to, if it has a method. */
function decodeEnvelope({ dialects }: Endpoint, call: RpcCall, body: unknown): RpcRequest {
  try {
    return decodeRpcRequest(body);
  } catch (thrown) {
    const method = methodOf(body);
    if (method !== undefined) call.codec = dialects.chooseRpc(call.requestedVersion, method).codec;
    throw thrown;
  }
}

function operationOf(codec: RpcCodec, method: string, exchange: Exchange): Operation | undefined {
  const operation = codec.operationOf(method);
  return operation === "get" && codec.streamsGets === true && readsOnlyEvents(exchange) ? "subscribe" : operation;
}

function readsOnlyEvents(exchange: Exchange): boolean {
  return exchange.header("accept")?.trim().toLowerCase() === "text/event-stream";
}

/** Characters of a method name that an error repeats; no method has a longer name. */
const MAX_METHOD = 64;

/** Adds the method's name to a `method-not-found` error. */
function withMethod(method: string, error: A2AError): A2AError {
  if (error.code !== "method-not-found") return error;
  return new A2AError(error.code, error.message, { metadata: { method: method.slice(0, MAX_METHOD) } });
}
