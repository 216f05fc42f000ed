import { withoutTrailing } from "../../internal/without-trailing.ts";
import { CALL_PATH_HEADER, type CallPath, writeCallPath } from "../../protocol/call-path.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { A2AError } from "../../protocol/error.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { ClientCodec, ClientRequest, RemoteEvent, RemoteResult } from "../../wire/client/client-codec.ts";
import type { ClientDialect, DialectTraits } from "../../wire/client/client-registry.ts";
import {
  type AnswerHead,
  headOf,
  invalidAnswer,
  isSuccess,
  openEnvelope,
  parseAnswer,
  reading,
  remoteErrorIn,
} from "./answer.ts";
import { RemoteError, remoteErrorOf } from "./errors.ts";
import { requireGenerations } from "./generations.ts";
import { HeaderFields } from "./header-fields.ts";
import { discard, exchange, readAll, readText, startingWith, type TextReader } from "./http.ts";
import { idleWatch } from "./idle-watch.ts";
import { observedRequest, setTrace } from "./observed-request.ts";
import type { HttpResponse } from "./send.ts";
import type { ClientSettings } from "./settings.ts";
import { type ServerSentEvent, SseParser } from "./sse.ts";
import { SseFrames } from "./sse-frames.ts";

/** An encoded request: the same for every attempt, ids included. */
export interface PreparedCall {
  readonly operation: Operation;
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  /** Text, or the bytes of gRPC. */
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  /** The id of a JSON-RPC request; 0 for REST. */
  readonly id: number;
  /** The servers that forwarded the message. Absent: none. */
  readonly callPath?: CallPath | undefined;
}

/** What belongs to one attempt of a call. */
export interface CallContext {
  readonly signal: AbortSignal;
  /** The id of the last received event: a server that numbers its events resumes after it. */
  readonly cursor?: string | undefined;
}

/** One frame of a stream. */
export interface Frame {
  /** The `id:` of the server-sent event; `undefined` if the server does not number its events. */
  readonly id: string | undefined;
  readonly event: RemoteEvent;
}

/** The answer to a request for a stream: a stream, or one result from servers that do not stream. */
export type Opened =
  | { readonly kind: "result"; readonly result: RemoteResult }
  | { readonly kind: "stream"; readonly stream: FrameStream };

/** An open stream. It is not resumed here if it breaks: see `client/follow`. */
export interface FrameStream {
  /** The next frame; `undefined` at the end. Rejects with the agent's error, or with `network` if the connection broke. */
  next(): Promise<Frame | undefined>;
  /** Ends the connection. May be called twice. */
  close(): void;
  /** Milliseconds to wait before reconnecting, if the server has sent a `retry` field. */
  readonly retry: number | undefined;
}

/** Calls one interface of an agent. One HTTP exchange per call, except for a second attempt with new credentials after a 401. */
export interface Channel {
  readonly dialect: DialectTraits;
  readonly at: AgentInterface;
  /** Encodes a request. Throws if the dialect does not have the operation. The tenant is always that of the interface. */
  prepare(request: ClientRequest): PreparedCall;
  /** Sends a call that has one result. Rejects with a `RemoteError`. */
  ask(call: PreparedCall, context: CallContext): Promise<RemoteResult>;
  /** Sends a call that asks for a stream. Rejects with a `RemoteError` if the agent answers with an error instead. */
  open(call: PreparedCall, context: CallContext): Promise<Opened>;
  /** The same call with the other HTTP verb, if versions disagree about the verb. */
  otherVerb(call: PreparedCall): PreparedCall | undefined;
}

/** One interface of an agent, and how to call it. */
export interface ChannelOptions {
  readonly card: AgentCard;
  readonly at: AgentInterface;
  readonly dialect: ClientDialect;
  readonly settings: ClientSettings;
  /** Returns the signed members of an extended card, or throws. Absent: signatures are not checked. */
  readonly verify?: ((card: unknown, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** Problem details (RFC 9457) appear in examples of 1.0 and are read too. */
const JSON_TYPES = "application/json, application/a2a+json, application/problem+json;q=0.5";
const STREAM_TYPES = "text/event-stream, application/json;q=0.9";

/** Makes no request. */
export function createChannel(options: ChannelOptions): Channel {
  const { at, dialect, settings, verify } = options;
  const { codec } = dialect;
  let lastId = 0;
  /** Streams work only at the dialect's second URL. */
  let streamsElsewhere = false;

  const prepare = (asked: ClientRequest): PreparedCall => {
    const request: ClientRequest = { ...asked, tenant: at.tenant ?? "" };
    try {
      const { operation } = request;
      requireGenerations(dialect, request);
      const callPath = "callPath" in request ? request.callPath : undefined;
      if (operation === "extended-card" && dialect.extendedCardPath !== undefined) {
        const { href } = new URL(dialect.extendedCardPath, `${withoutTrailing(at.url, "/")}/`);
        return { operation, method: "GET", url: href, body: undefined, id: 0 };
      }
      if (dialect.binding === "rest") {
        const { method, path, body } = dialect.codec.encodeRequest(request);
        return { operation, method, url: withoutTrailing(at.url, "/") + path, body, id: 0, callPath };
      }
      const { method, params } = dialect.codec.encodeRequest(request);
      const id = ++lastId;
      const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
      return { operation, method: "POST", url: at.url, body, id, callPath };
    } catch (thrown) {
      throw thrown instanceof A2AError ? remoteErrorOf(thrown) : thrown;
    }
  };

  const contentOf = (value: unknown, call: PreparedCall, head: AnswerHead): unknown =>
    call.id === 0 ? restValue(codec, value, head) : openEnvelope(codec, value, { id: call.id, head });
  const resultOf = (value: unknown, call: PreparedCall, head: AnswerHead): RemoteResult => {
    const content = contentOf(value, call, head);
    const result = reading(() => codec.decodeResult(call.operation, content), head);
    const { nextPageToken } = head;
    if (result.kind !== "tasks" || result.nextPageToken !== "" || nextPageToken === undefined) return result;
    return { ...result, nextPageToken };
  };
  /** The result; an extended card is verified first. */
  const verifiedResult = async (
    value: unknown,
    call: PreparedCall,
    { head, signal }: ResultContext,
  ): Promise<RemoteResult> => {
    if (call.operation !== "extended-card" || verify === undefined) return resultOf(value, call, head);
    const card = await verify(contentOf(value, call, head), signal);
    return reading(() => codec.decodeResult(call.operation, card), head);
  };

  const open = async (call: PreparedCall, context: CallContext): Promise<Opened> => {
    const idle = idleWatch(settings, context.signal);
    const response = await request(options, call, { ...context, accept: STREAM_TYPES });
    const head = headOf(response, settings.clock.now());
    const reader = readText(response, { signal: idle.signal, arrived: idle.touch });
    idle.touch();
    const opened = await sniff(reader, head, settings).finally(idle.stop);
    if (opened.kind === "text") {
      return { kind: "result", result: resultOf(parseAnswer(opened.text, head), call, head) };
    }
    idle.touch();
    const decode = (event: ServerSentEvent): RemoteEvent => decodeFrame(codec, event, { call, head });
    const stream = new SseFrames({
      reader: opened.reader,
      parser: new SseParser(settings),
      decode,
      ended: idle.stop,
      signal: context.signal,
    });
    return { kind: "stream", stream };
  };

  return {
    dialect,
    at,
    prepare,
    async ask(call, context) {
      const response = await request(options, call, { ...context, accept: JSON_TYPES });
      const head = headOf(response, settings.clock.now());
      const reader = readText(response, context);
      // Some servers answer every request with a stream.
      if (isSuccess(head) && head.contentType.startsWith("text/event-stream")) {
        const value = await firstData(reader, settings, context.signal);
        return verifiedResult(value, call, { head, signal: context.signal });
      }
      checkLength(response, settings);
      const text = await readAll(reader, settings.maxResponseBytes);
      return verifiedResult(parseAnswer(text, head), call, { head, signal: context.signal });
    },
    async open(call, context) {
      if (call.operation !== "stream" || dialect.streamPath === undefined) return open(call, context);
      const elsewhere = { ...call, url: new URL(dialect.streamPath, `${withoutTrailing(at.url, "/")}/`).href };
      if (streamsElsewhere) return open(elsewhere, context);
      try {
        return await open(call, context);
      } catch (thrown) {
        if (!(thrown instanceof RemoteError) || thrown.code !== "method-not-found") throw thrown;
        const opened = await open(elsewhere, context).catch((other: unknown) => {
          throw other instanceof RemoteError && isMissing(other) ? thrown : other;
        });
        streamsElsewhere = true;
        return opened;
      }
    },
    otherVerb(call) {
      if (dialect.binding !== "rest" || call.operation !== "subscribe") return undefined;
      return { ...call, method: call.method === "GET" ? "POST" : "GET" };
    },
  };
}

/** Whether a server has nothing at a URL. */
function isMissing({ code, remote: { httpStatus } }: RemoteError): boolean {
  return code === "method-not-found" || httpStatus === 404 || httpStatus === 405;
}

/** What the verification of an extended card needs. */
interface ResultContext {
  readonly head: AnswerHead;
  readonly signal: AbortSignal;
}

/** REST has no envelope: the HTTP status tells errors from results. */
function restValue(codec: ClientCodec, value: unknown, head: AnswerHead): unknown {
  if (!isSuccess(head)) throw remoteErrorIn(codec, value, head);
  return value;
}

interface RequestContext extends CallContext {
  readonly accept: string;
  /** The span of the request. */
  readonly trace?: TraceContext;
}

function request(options: ChannelOptions, call: PreparedCall, context: RequestContext): Promise<HttpResponse> {
  return observedRequest(options.settings, {
    call,
    signal: context.signal,
    send: (trace) => send(options, call, trace === undefined ? context : { ...context, trace }),
    httpStatus: ({ status }) => status,
  });
}

/** Sends the request with credentials. After a 401, sends it once more if there are other credentials. */
async function send(options: ChannelOptions, call: PreparedCall, context: RequestContext): Promise<HttpResponse> {
  const { settings, card } = options;
  const { authorize } = settings;
  const first = outgoing(options, call, context);
  const about = { operation: call.operation, card, signal: context.signal };
  await authorize?.(first, about);
  const attempt = (sent: typeof first): Promise<HttpResponse> =>
    exchange(settings, { ...sent, method: call.method, body: call.body, signal: context.signal });
  const response = await attempt(first);
  if (response.status !== 401 || authorize === undefined) return response;
  const second = outgoing(options, call, context);
  const challenge = { status: 401, authenticate: response.headers.get("www-authenticate") ?? undefined };
  if ((await authorize(second, { ...about, challenge })) === false) return response;
  discard(response);
  return attempt(second);
}

/** The caller's own headers come first, so that they cannot replace those of the protocol. */
function outgoing(
  { dialect, settings }: ChannelOptions,
  call: PreparedCall,
  { accept, cursor, trace }: RequestContext,
) {
  const headers = new HeaderFields(settings.headers);
  headers.set("accept", accept);
  if (call.body !== undefined) headers.set("content-type", "application/json");
  if (dialect.versionHeader !== undefined) headers.set("a2a-version", dialect.versionHeader);
  if (dialect.extensionsHeader !== undefined && settings.extensions.length > 0)
    headers.set(dialect.extensionsHeader, settings.extensions.join(", "));
  if (cursor !== undefined) headers.set("last-event-id", cursor);
  setTrace(headers, trace);
  if (call.callPath !== undefined) headers.set(CALL_PATH_HEADER, writeCallPath(call.callPath));
  return { url: new URL(call.url), headers };
}

/** Rejects a response whose `Content-Length` is too large before reading it. */
function checkLength(response: HttpResponse, { maxResponseBytes }: ClientSettings): void {
  if (Number(response.headers.get("content-length") ?? 0) <= maxResponseBytes) return;
  response.body?.cancel().catch(() => {});
  throw new RemoteError("response-too-large", `The agent's response has more than ${maxResponseBytes} bytes.`);
}

type Sniffed =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "events"; readonly reader: TextReader };

/**
 * Whether a response is a stream. Content types are unreliable, so the first character decides: SSE starts with a field name, a comment or an
 * empty line, JSON and HTML do not.
 */
async function sniff(reader: TextReader, head: AnswerHead, settings: ClientSettings): Promise<Sniffed> {
  let start = "";
  if (isSuccess(head)) {
    while (start.trim() === "" && start.length < 1024) {
      const piece = await reader.next();
      if (piece === undefined) break;
      start += piece;
    }
    if (/^\s*[^{[<\s]/.test(start)) return { kind: "events", reader: startingWith(start, reader) };
    if (start.trim() === "" && head.contentType.startsWith("text/event-stream"))
      return { kind: "events", reader: startingWith(start, reader) };
  }
  return { kind: "text", text: start + (await readAll(reader, settings.maxResponseBytes)) };
}

/** The data of the first event, for calls that expect a single result. */
async function firstData(reader: TextReader, settings: ClientSettings, signal: AbortSignal): Promise<unknown> {
  const events = new SseFrames({
    reader,
    parser: new SseParser(settings),
    decode: ({ data }): unknown => JSON.parse(data),
    ended: () => {},
    signal,
  });
  const first = await events.next();
  events.close();
  return first?.event;
}

/** The call and the response that a frame belongs to. */
interface FrameOrigin {
  readonly call: PreparedCall;
  readonly head: AnswerHead;
}

/** In JSON-RPC every frame is a whole response with the id of the request; in REST it is the bare event (A2A 1.0 §9.4.2, §11.7). */
function decodeFrame(codec: ClientCodec, { data, event }: ServerSentEvent, { call, head }: FrameOrigin): RemoteEvent {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    const start = data.length > 80 ? `${data.slice(0, 80)}…` : data;
    throw invalidAnswer(`An event of the stream is not valid JSON: ${start}`, head);
  }
  if (call.id !== 0) {
    const result = openEnvelope(codec, value, { id: call.id, head });
    return reading(() => codec.decodeEvent(result), head);
  }
  if (event === "error" || isError(value)) throw remoteErrorIn(codec, value, { ...head, status: 500 });
  return reading(() => codec.decodeEvent(value), head);
}

/** Whether a REST event is an error. No protocol event has an `error` member. */
function isError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "error" in value;
}
