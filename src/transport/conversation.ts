import { A2AError, toA2AError } from "../protocol/error.ts";
import type { Operation, OperationRequest } from "../protocol/operation.ts";
import { ANONYMOUS, type Principal } from "../protocol/principal.ts";
import type { Call } from "../server/call.ts";
import { activeExtensions } from "../server/extensions.ts";
import { perform } from "../server/perform.ts";
import type { Service } from "../server/service.ts";
import type { TaskStream } from "../server/task-stream.ts";
import type { Codec } from "../wire/codec.ts";
import type { Dialects } from "../wire/dialects.ts";
import { authenticateExchange } from "./authentication.ts";
import type { Exchange, Headers, Reply } from "./exchange.ts";
import { ExchangeCall } from "./exchange-call.ts";
import type { TransportEnvironment } from "./options.ts";
import { recordCall } from "./record-call.ts";
import { requestedVersion } from "./service-parameters.ts";
import { type Envelope, EventStream } from "./sse/event-stream.ts";
import type { StreamRegistry } from "./sse/stream-registry.ts";

const JSON_HEADERS: Headers = { "content-type": "application/json" };

/** What the bindings of one handler share. */
export interface Endpoint {
  readonly environment: TransportEnvironment;
  readonly streams: StreamRegistry;
  readonly dialects: Dialects;
}

/** One request on its way to an answer: what is known of it so far. Errors are answered with as much of it as there is. */
export interface Conversation<C extends Codec = Codec> {
  readonly exchange: Exchange;
  readonly service: Service;
  readonly startedAt: number;
  /** The version the caller names, if any. */
  readonly requested: string | undefined;
  principal: Principal;
  codec: C;
  envelope: Envelope;
  operation: Operation | undefined;
  /** What goes with every JSON answer. */
  headers: Headers;
  /** An error is to be the one event of a stream: this caller reads nothing else. */
  errorAsEvent: boolean;
  /** Frames of a stream say what they are, where the dialect has names for that. */
  readonly namesEvents: boolean;
}

export interface Beginning<C extends Codec> {
  readonly exchange: Exchange;
  readonly service: Service;
  readonly envelope: Envelope;
  readonly operation?: Operation;
  /** Default false. */
  readonly namesEvents?: boolean;
  /** Speaks until more is known. */
  codec(requested: string | undefined): C;
}

export function beginConversation<C extends Codec>(beginning: Beginning<C>): Conversation<C> {
  const { exchange, service, envelope } = beginning;
  const requested = requestedVersion(exchange);
  return {
    exchange,
    service,
    startedAt: performance.now(),
    requested,
    principal: ANONYMOUS,
    codec: beginning.codec(requested),
    envelope,
    operation: beginning.operation,
    headers: JSON_HEADERS,
    errorAsEvent: false,
    namesEvents: beginning.namesEvents ?? false,
  };
}

/**
 * Answers one request of whichever binding. `read` understands it and leaves in the conversation what it finds out; it is not
 * called before the caller is known. Never rejects.
 */
export async function converse(
  endpoint: Endpoint,
  conversation: Conversation,
  read: () => Promise<OperationRequest>,
): Promise<Reply> {
  try {
    return await answer(endpoint, conversation, read);
  } catch (thrown) {
    const { signal } = conversation.exchange;
    const gone = signal.aborted && thrown === signal.reason;
    return refuse(endpoint, conversation, gone ? callerGone(thrown) : toA2AError(thrown));
  }
}

/** Nobody will read this; it keeps a caller that hangs up from being logged as a failure of the server. */
function callerGone(cause: unknown): A2AError {
  return new A2AError("unavailable", "The caller is gone", { cause });
}

async function answer(
  endpoint: Endpoint,
  conversation: Conversation,
  read: () => Promise<OperationRequest>,
): Promise<Reply> {
  const { exchange, service } = conversation;
  const { environment } = endpoint;
  if (environment.authenticate !== undefined) {
    conversation.principal = await authenticateExchange(exchange, service.agent.id, environment);
  }
  const request = await read();
  if (request.operation === "stream" || request.operation === "subscribe") endpoint.streams.admit();
  const call = new ExchangeCall(exchange, conversation);
  const result = await perform(service, call, request);
  if (result.kind === "stream") return openStream(endpoint, conversation, { stream: result, call });
  const body = conversation.envelope.result(conversation.codec.encodeResult(result));
  report(endpoint, conversation, undefined);
  return { status: 200, headers: withExtensions(conversation.headers, conversation, call), body };
}

/** Says which of the extensions asked for are in force. */
function withExtensions(headers: Headers, { service, codec }: Conversation, call: Call): Headers {
  const active = activeExtensions(service, call);
  return active.length === 0 ? headers : { ...headers, [codec.extensionsHeader]: active.join(", ") };
}

const STREAM_HEADERS: Headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

interface OpenedStream {
  readonly stream: TaskStream;
  readonly call: Call;
}

function openStream(endpoint: Endpoint, conversation: Conversation, { stream, call }: OpenedStream): Reply {
  const { envelope, codec, namesEvents } = conversation;
  const { streams } = endpoint;
  const source = new EventStream({
    stream,
    codec,
    envelope,
    namesEvents,
    ended: (ended, error) => {
      streams.remove(ended);
      report(endpoint, conversation, error);
    },
  });
  streams.add(source);
  return { status: 200, headers: withExtensions(STREAM_HEADERS, conversation, call), source };
}

function refuse(endpoint: Endpoint, conversation: Conversation, error: A2AError): Reply {
  report(endpoint, conversation, error);
  const { codec, envelope } = conversation;
  const text = envelope.error(codec.encodeError(error));
  const status = codec.statusOf(error);
  // Where the status says that something is wrong, every reader sees it.
  if (conversation.errorAsEvent && status === 200) {
    return { status, headers: STREAM_HEADERS, body: `event: error\ndata: ${text}\n\n` };
  }
  const headers: Record<string, string> = { ...conversation.headers };
  if (error.code === "unauthenticated") headers["www-authenticate"] = "Bearer";
  const retryAfter = error.retryAfter ?? (error.code === "unavailable" ? 5 : undefined);
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  return { status, headers, body: text };
}

function report({ environment }: Endpoint, conversation: Conversation, error: A2AError | undefined): void {
  if (error === undefined && environment.hooks.on?.call === undefined) return;
  const { service, exchange, principal, operation, codec, startedAt } = conversation;
  recordCall(environment, {
    agent: service.agent.id,
    dialect: codec.dialect,
    principal,
    operation,
    traceparent: exchange.header("traceparent"),
    startedAt,
    error,
  });
}
