import { A2AError } from "../../protocol/error.ts";
import type { Operation, OperationRequest } from "../../protocol/operation.ts";
import type { Service } from "../../server/service.ts";
import type { RpcCodec } from "../../wire/codec.ts";
import type { Dialects } from "../../wire/dialects.ts";
import { ERROR_TABLE } from "../../wire/error-table.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import { beginConversation, type Conversation, converse, type Endpoint } from "../conversation.ts";
import { type Exchange, jsonReply, type Reply } from "../exchange.ts";
import type { Refuse } from "../router.ts";
import { requestedVersion } from "../service-parameters.ts";
import { decodeRpcRequest, envelopeOf, methodOf, missingId, type RpcRequest, UNIDENTIFIED } from "./envelope.ts";

/** Of whom a request asks, and how it wants to be answered. */
export interface RpcMatch {
  readonly service: Service;
  /** Frames of a stream say what they are, where the dialect has names for that. */
  readonly namesEvents: boolean;
}

/** Answers one JSON-RPC request, of whichever version. Never rejects. */
export function handleRpc(endpoint: Endpoint, exchange: Exchange, match: RpcMatch): Promise<Reply> {
  const { dialects } = endpoint;
  const conversation = beginConversation<RpcCodec>({
    exchange,
    ...match,
    envelope: UNIDENTIFIED,
    codec: dialects.fallbackRpc,
  });
  const { authenticate, requestLimits } = endpoint.environment;
  if (authenticate !== undefined || requestLimits !== undefined) {
    conversation.identify = () => identify(endpoint, conversation);
  }
  return converse(endpoint, conversation, () => read(endpoint, conversation));
}

/** What is read of a request whose caller is refused, only to tell it so in its own version and under its own id. */
const MAX_REFUSED_BYTES = 64 * 1024;

async function identify({ dialects, environment }: Endpoint, conversation: Conversation<RpcCodec>): Promise<void> {
  const { exchange, requested } = conversation;
  const body = parseJson(await readRequestBody(environment, exchange, MAX_REFUSED_BYTES));
  conversation.envelope = envelopeOf(body);
  const method = methodOf(body);
  if (method === undefined) return;
  const { codec } = dialects.chooseRpc(requested, method);
  conversation.codec = codec;
  conversation.operation = codec.operationOf(method);
}

/** Method, then parameters, then the id: a request that is wrong in several ways hears of the first. */
async function read(endpoint: Endpoint, conversation: Conversation<RpcCodec>): Promise<OperationRequest> {
  const { exchange, requested } = conversation;
  requireJson(exchange);
  const { environment } = endpoint;
  const body = parseJson(await readRequestBody(environment, exchange, environment.maxBodyBytes));
  conversation.envelope = envelopeOf(body);
  const { method, params, hasId } = decodeEnvelope(endpoint, conversation, body);
  const { codec, refusal } = endpoint.dialects.chooseRpc(requested, method);
  conversation.codec = codec;
  if (refusal !== undefined) throw naming(method, refusal);
  const operation = operationOf(codec, method, exchange);
  if (operation === undefined) throw naming(method, new A2AError("method-not-found", "Method not found"));
  conversation.operation = operation;
  const request = codec.decodeRequest(operation, params);
  if (!hasId) throw missingId();
  const streams = operation === "stream" || operation === "subscribe";
  conversation.errorAsEvent = streams && codec.streamErrorsAsEvents && readsOnlyEvents(exchange);
  return request;
}

/** What is wrong with an envelope is told as the version would in which its method is spelt, if it has one. */
function decodeEnvelope({ dialects }: Endpoint, conversation: Conversation<RpcCodec>, body: unknown): RpcRequest {
  try {
    return decodeRpcRequest(body);
  } catch (thrown) {
    const method = methodOf(body);
    if (method !== undefined) conversation.codec = dialects.chooseRpc(conversation.requested, method).codec;
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

/** Longer than any method is called. */
const MAX_METHOD = 64;

/** The error with the method's name, where it is that which is wrong. */
function naming(method: string, error: A2AError): A2AError {
  if (error.code !== "method-not-found") return error;
  return new A2AError(error.code, error.message, { metadata: { method: method.slice(0, MAX_METHOD) } });
}

/** Tells of an error to callers of JSON-RPC where no conversation comes about. */
export function rpcRefusal(dialects: Dialects): Refuse {
  return (exchange, error) => {
    const codec = dialects.fallbackRpc(requestedVersion(exchange));
    return jsonReply(codec.statusOf(error), UNIDENTIFIED.error(codec.encodeError(error)));
  };
}

/** The same at paths that are none of JSON-RPC's, whose callers look at the status. */
export function strayRefusal(dialects: Dialects): Refuse {
  const refuse = rpcRefusal(dialects);
  return (exchange, error) => ({ ...refuse(exchange, error), status: ERROR_TABLE[error.code].http });
}
