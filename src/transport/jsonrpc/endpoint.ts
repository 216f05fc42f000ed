import { A2AError, toA2AError } from "../../protocol/error.ts";
import type { Operation, OperationRequest } from "../../protocol/operation.ts";
import { ANONYMOUS, type Principal } from "../../protocol/principal.ts";
import type { Call } from "../../server/call.ts";
import { activeExtensions, perform } from "../../server/perform.ts";
import type { Service } from "../../server/service.ts";
import type { TaskStream } from "../../server/task-stream.ts";
import type { Codec } from "../../wire/codec.ts";
import { defaultCodec, selectCodec } from "../../wire/select.ts";
import { authenticateExchange } from "../authentication.ts";
import { type Exchange, type Headers, jsonReply, type Reply } from "../exchange.ts";
import { ExchangeCall } from "../exchange-call.ts";
import type { TransportEnvironment } from "../options.ts";
import { recordCall } from "../record-call.ts";
import { requestedVersion } from "../service-parameters.ts";
import { EventStream } from "../sse/event-stream.ts";
import type { StreamRegistry } from "../sse/stream-registry.ts";
import { decodeRpcRequest, envelopeOf, missingId, parseBody, type RpcEnvelope, UNIDENTIFIED } from "./envelope.ts";
import { HTTP_STATUS } from "./http-status.ts";

export interface RpcEndpoint {
  readonly environment: TransportEnvironment;
  readonly streams: StreamRegistry;
}

/** What is known of a request so far; errors are answered with as much of it as there is. */
interface Progress {
  readonly startedAt: number;
  readonly service: Service;
  principal: Principal;
  envelope: RpcEnvelope;
  codec: Codec;
  operation: Operation | undefined;
  traceparent: string | undefined;
}

/** Answers one JSON-RPC request, of whichever version. Never rejects. */
export async function handleRpc(endpoint: RpcEndpoint, service: Service, exchange: Exchange): Promise<Reply> {
  const progress: Progress = {
    startedAt: performance.now(),
    service,
    principal: ANONYMOUS,
    envelope: UNIDENTIFIED,
    codec: defaultCodec,
    operation: undefined,
    traceparent: exchange.header("traceparent"),
  };
  try {
    return await answer(endpoint, exchange, progress);
  } catch (thrown) {
    const { signal } = exchange;
    const gone = signal.aborted && thrown === signal.reason;
    return refuse(endpoint, progress, { error: gone ? callerGone(thrown) : toA2AError(thrown) });
  }
}

/** Nobody will read this; it keeps a caller that hangs up from being logged as a failure of the server. */
function callerGone(cause: unknown): A2AError {
  return new A2AError("unavailable", "The caller is gone", { cause });
}

async function answer(endpoint: RpcEndpoint, exchange: Exchange, progress: Progress): Promise<Reply> {
  const { environment, streams } = endpoint;
  const { service } = progress;
  if (!isJson(exchange.header("content-type"))) return refuseMediaType(endpoint, progress);
  progress.principal = await authenticateExchange(exchange, service.agent.id, environment);
  const request = decode(parseBody(await exchange.body(environment.maxBodyBytes)), exchange, progress);
  if (request.operation === "stream" || request.operation === "subscribe") streams.admit();
  const call = new ExchangeCall(exchange, { principal: progress.principal, codec: progress.codec, binding: "jsonrpc" });
  const result = await perform(service, call, request);
  const headers = extensionHeaders(service, call);
  if (result.kind === "stream") return openStream(endpoint, progress, { stream: result, headers });
  const body = progress.envelope.result(progress.codec.encodeResult(result));
  report(endpoint, progress, undefined);
  return jsonReply(200, body, headers);
}

/** Method, then parameters, then the id: a request that is wrong in several ways hears of the first. */
function decode(body: unknown, exchange: Exchange, progress: Progress): OperationRequest {
  progress.envelope = envelopeOf(body);
  const { method, params, hasId } = decodeRpcRequest(body);
  progress.codec = selectCodec(requestedVersion(exchange), method);
  progress.operation = progress.codec.operationOf(method);
  if (progress.operation === undefined) throw new A2AError("method-not-found", "Method not found");
  const request = progress.codec.decodeRequest(progress.operation, params);
  if (!hasId) throw missingId();
  return request;
}

const STREAM_HEADERS: Headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

interface OpenedStream {
  readonly stream: TaskStream;
  readonly headers: Headers | undefined;
}

function openStream(endpoint: RpcEndpoint, progress: Progress, { stream, headers }: OpenedStream): Reply {
  const { envelope, codec } = progress;
  const { streams } = endpoint;
  const source = new EventStream({
    stream,
    codec,
    envelope,
    ended: (ended, error) => {
      streams.remove(ended);
      report(endpoint, progress, error);
    },
  });
  streams.add(source);
  return { status: 200, headers: headers === undefined ? STREAM_HEADERS : { ...STREAM_HEADERS, ...headers }, source };
}

interface Refusal {
  readonly error: A2AError;
  readonly status?: number;
}

function refuse(
  endpoint: RpcEndpoint,
  progress: Progress,
  { error, status = HTTP_STATUS[error.code] }: Refusal,
): Reply {
  report(endpoint, progress, error);
  const headers: Record<string, string> = {};
  if (error.code === "unauthenticated") headers["www-authenticate"] = "Bearer";
  const retryAfter = error.retryAfter ?? (error.code === "unavailable" ? 5 : undefined);
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  const body = progress.envelope.error(progress.codec.encodeError(error));
  return jsonReply(status, body, headers);
}

function refuseMediaType(endpoint: RpcEndpoint, progress: Progress): Reply {
  const error = new A2AError("content-type-not-supported", "Send the request as application/json");
  return refuse(endpoint, progress, { error, status: 415 });
}

function report({ environment }: RpcEndpoint, progress: Progress, error: A2AError | undefined): void {
  if (error === undefined && environment.hooks.on?.call === undefined) return;
  const { service, principal, operation, traceparent, codec, startedAt } = progress;
  recordCall(environment, {
    agent: service.agent.id,
    dialect: `${codec.version}/jsonrpc`,
    principal,
    operation,
    traceparent,
    startedAt,
    error,
  });
}

/** Only what is declared as JSON is read as such, which also keeps web pages from making a browser send it unasked. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return (
    contentType !== undefined && /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i.test(contentType)
  );
}

function extensionHeaders(service: Service, call: Call): Headers | undefined {
  const active = activeExtensions(service, call);
  return active.length === 0 ? undefined : { "a2a-extensions": active.join(", ") };
}
