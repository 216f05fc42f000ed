import { CALL_PATH_HEADER } from "../protocol/call-path.ts";
import { A2AError, toA2AError } from "../protocol/error.ts";
import type { Operation, OperationRequest, OperationResult } from "../protocol/operation.ts";
import { ANONYMOUS, type Principal } from "../protocol/principal.ts";
import type { StoredTask } from "../protocol/serial.ts";
import { acceptCallPath } from "../server/accept-call-path.ts";
import type { Call } from "../server/call.ts";
import { perform } from "../server/perform.ts";
import type { Service } from "../server/service.ts";
import { opensStream, type TaskStream } from "../server/task-stream.ts";
import type { Codec } from "../wire/codec.ts";
import type { Dialects } from "../wire/dialects.ts";
import { resultPieces } from "../wire/large-task.ts";
import { type AnswerKind, type Answers, COUNTED_BYTES } from "./answers/answers.ts";
import { auditEntry, taskIdOf } from "./audit.ts";
import { authenticateExchange } from "./authentication.ts";
import type { CardSigning } from "./card/card-route.ts";
import { signCard } from "./card/sign-card.ts";
import { challengesOf } from "./challenges.ts";
import type { Exchange, Headers, Reply } from "./exchange.ts";
import { ExchangeCall } from "./exchange-call.ts";
import type { TransportEnvironment } from "./options.ts";
import { rateLimited, rateLimitHeaders } from "./rate-limit/rate-limit-headers.ts";
import { callerKey, type RequestLimits } from "./rate-limit/request-limits.ts";
import { recordCall } from "./record-call.ts";
import { requestedVersion } from "./service-parameters.ts";
import { EventStream, type EventStreamOptions } from "./sse/event-stream.ts";
import type { StreamPlace, StreamRegistry } from "./sse/stream-registry.ts";
import type { TextEnvelope } from "./text/text-envelope.ts";

const JSON_HEADERS: Headers = { "content-type": "application/json" };

/** What the bindings of one handler share. */
export interface Endpoint {
  readonly environment: TransportEnvironment;
  readonly streams: StreamRegistry;
  readonly answers: Answers;
  readonly dialects: Dialects;
  /** Absent: cards are not signed. */
  readonly cardSigning?: CardSigning | undefined;
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
  envelope: TextEnvelope;
  operation: Operation | undefined;
  /** What is asked, once it is understood. */
  request: OperationRequest | undefined;
  /** What goes with every JSON answer. */
  headers: Headers;
  /** What goes with every answer, once the caller is known: how often it may call. */
  limitHeaders: Headers | undefined;
  /** An error is to be the one event of a stream: this caller reads nothing else. */
  errorAsEvent: boolean;
  /** Frames of a stream say what they are, where the dialect has names for that. */
  readonly namesEvents: boolean;
  /** Finds out, of a request that will not be read, how its refusal is to be told. Gives up rather than do much. */
  identify?: () => Promise<void>;
}

export interface Beginning<C extends Codec> {
  readonly exchange: Exchange;
  readonly service: Service;
  readonly envelope: TextEnvelope;
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
    request: undefined,
    headers: JSON_HEADERS,
    limitHeaders: undefined,
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
  try {
    if (environment.authenticate !== undefined) {
      conversation.principal = await authenticateExchange(exchange, service.agent.id, environment);
    }
    if (environment.requestLimits !== undefined) countRequest(environment.requestLimits, endpoint, conversation);
  } catch (error) {
    await conversation.identify?.().catch(() => undefined);
    throw error;
  }
  const asked = await read();
  conversation.request = asked;
  // Before the message is given a place among the streams: the end of a loop must not depend on whether one is free.
  const { request, callPath } = acceptCallPath(service, asked, exchange.header(CALL_PATH_HEADER));
  const streams = opensStream(request.operation);
  const place = streams ? endpoint.streams.admit(callerOf(endpoint, conversation)) : undefined;
  try {
    const call = new ExchangeCall(exchange, { principal: conversation.principal, codec: conversation.codec, callPath });
    const result = await perform(service, call, request);
    useStyleOfTask(conversation, result);
    if (result.kind === "stream") {
      const reply = openStream(endpoint, conversation, { stream: result, call, place });
      audit(endpoint, conversation, { result });
      return reply;
    }
    place?.release();
    const reply = await resultReply(endpoint, conversation, { result, call });
    audit(endpoint, conversation, { result });
    report(endpoint, conversation, undefined);
    return reply;
  } catch (error) {
    place?.release();
    throw error;
  }
}

interface Answered {
  readonly result: OperationResult;
  readonly call: Call;
}

/** The answer: one text while it is short; a longer one is counted, and a large one made while it is sent. */
async function resultReply(endpoint: Endpoint, conversation: Conversation, { result, call }: Answered): Promise<Reply> {
  const { codec, envelope, request, exchange } = conversation;
  const headers = headersOf(conversation.headers, conversation, call);
  const link =
    result.kind === "tasks" && result.next !== undefined ? codec.nextPageLink?.(result.next, request) : undefined;
  const linked = link === undefined ? headers : { ...headers, link };
  const bytes = piecesBytes(result);
  if (bytes !== undefined) {
    const pieces = resultPieces(codec, result, (text) => envelope.result(text));
    return {
      status: 200,
      headers: linked,
      source: endpoint.answers.ofPieces(pieces, bytes, answerKind(endpoint, conversation)),
    };
  }
  const text = codec.encodeResult(result);
  const body = envelope.result(result.kind === "card" ? await signed(text, endpoint, exchange) : text);
  if (body.length < COUNTED_BYTES) return { status: 200, headers: linked, body };
  const source = endpoint.answers.ofText(body, answerKind(endpoint, conversation));
  return { status: 200, headers: { ...linked, "content-length": String(Buffer.byteLength(body)) }, source };
}

/** A page of tasks with more text than this is encoded task by task while it is sent. */
const WHOLE_PAGE_BYTES = 256 * 1024;

/** For an answer that is made while it is sent: the bytes of it that are in memory from the beginning. */
function piecesBytes(result: OperationResult): number | undefined {
  if (result.kind === "task" || result.kind === "sent") {
    return result.task.large === undefined ? undefined : textBytes(result.task);
  }
  if (result.kind !== "tasks") return undefined;
  let bytes = 0;
  for (const task of result.tasks) bytes += textBytes(task);
  return bytes > WHOLE_PAGE_BYTES || result.tasks.some(({ large }) => large !== undefined) ? bytes : undefined;
}

function textBytes({ status, artifacts = "", history = "", metadata = "" }: StoredTask): number {
  return status.length + artifacts.length + history.length + metadata.length;
}

/** Operations that change something have done so when they answer. */
const AFTER_WORK: ReadonlySet<Operation | undefined> = new Set(["send", "stream", "cancel", "push-create"]);

function answerKind({ environment }: Endpoint, { operation }: Conversation): AnswerKind {
  return {
    afterWork: AFTER_WORK.has(operation),
    ended: (error) => {
      if (error !== undefined) environment.logger.error("An answer could not be completed", { error });
    },
  };
}

/** Where the request does not show its style, the answer has the style in which the task was created. */
function useStyleOfTask(conversation: Conversation, result: OperationResult | TaskStream): void {
  const { codec } = conversation;
  if (codec.forTask === undefined) return;
  if (result.kind === "task") conversation.codec = codec.forTask(result.task.dialect);
  else if (result.kind === "stream" && result.opening.kind === "task") {
    conversation.codec = codec.forTask(result.opening.task.dialect);
  }
}

/** An extended card differs from caller to caller, so that each one is signed for itself. */
async function signed(card: string, { cardSigning }: Endpoint, exchange: Exchange): Promise<string> {
  return cardSigning === undefined ? card : signCard(card, cardSigning.signer, cardSigning.keysUrl(exchange));
}

/** Throws where the caller has called too often. */
function countRequest(limits: RequestLimits, { environment }: Endpoint, conversation: Conversation): void {
  const allowance = limits.ofPrincipal(conversation.principal, environment.remoteOf(conversation.exchange));
  if (allowance === undefined) return;
  conversation.limitHeaders = rateLimitHeaders(allowance, Date.now());
  if (!allowance.allowed) throw rateLimited(allowance);
}

/** Who counts as one caller. Those whom nobody knows are told apart by their address. */
function callerOf({ environment }: Endpoint, { principal, exchange }: Conversation): string {
  return callerKey(principal, environment.remoteOf(exchange));
}

/** Adds which of the extensions asked for are in force, and how often the caller may call. */
function headersOf(headers: Headers, { codec, limitHeaders }: Conversation, call: Call): Headers {
  const active = call.activeExtensions;
  if (active.length === 0) return limitHeaders === undefined ? headers : { ...headers, ...limitHeaders };
  return { ...headers, ...limitHeaders, [codec.extensionsHeader]: active.join(", ") };
}

const STREAM_HEADERS: Headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

interface OpenedStream {
  readonly stream: TaskStream;
  readonly call: Call;
  readonly place: StreamPlace | undefined;
}

function openStream(endpoint: Endpoint, conversation: Conversation, { stream, call, place }: OpenedStream): Reply {
  const { envelope, codec, namesEvents } = conversation;
  const { streams, answers } = endpoint;
  const kind = answerKind(endpoint, conversation);
  const source = openedStream({
    stream,
    codec,
    envelope,
    namesEvents,
    openAnswer: (opening) =>
      typeof opening === "string" ? answers.ofText(opening, kind) : answers.ofPieces(opening, 0, kind),
    ended: (ended, error) => {
      streams.remove(ended);
      place?.release();
      report(endpoint, conversation, error);
    },
  });
  streams.add(source);
  return { status: 200, headers: headersOf(STREAM_HEADERS, conversation, call), source };
}

/** Nobody reads the events of a stream whose opening is refused. */
function openedStream(options: EventStreamOptions): EventStream {
  try {
    return new EventStream(options);
  } catch (thrown) {
    options.stream.events?.close();
    throw thrown;
  }
}

function refuse(endpoint: Endpoint, conversation: Conversation, error: A2AError): Reply {
  report(endpoint, conversation, error);
  audit(endpoint, conversation, { error });
  const { codec, envelope } = conversation;
  const text = envelope.error(codec.encodeError(error));
  const status = codec.statusOf(error);
  // Where the status says that something is wrong, every reader sees it.
  if (conversation.errorAsEvent && status === 200) {
    const headers = { ...STREAM_HEADERS, ...conversation.limitHeaders };
    return { status, headers, body: `event: error\ndata: ${text}\n\n` };
  }
  const headers: Record<string, string> = { ...conversation.headers, ...conversation.limitHeaders };
  const challenges = challengesOf(error);
  if (challenges !== undefined) headers["www-authenticate"] = challenges;
  const retryAfter = error.retryAfter ?? (error.code === "unavailable" ? 5 : undefined);
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  return { status, headers, body: text };
}

interface Outcome {
  readonly result?: OperationResult | TaskStream;
  readonly error?: A2AError;
}

function audit({ environment }: Endpoint, conversation: Conversation, { result, error }: Outcome): void {
  if (environment.audit === undefined) return;
  const { service, exchange, principal, operation, request, codec } = conversation;
  environment.audit(
    auditEntry({
      principal,
      agent: service.agent.id,
      operation,
      tenant: principal.tenant ?? request?.tenant,
      taskId: taskIdOf(request, result),
      dialect: codec.dialect,
      remote: environment.remoteOf(exchange),
      outcome: error?.code ?? "ok",
      traceparent: exchange.header("traceparent"),
    }),
  );
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
