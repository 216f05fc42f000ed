import { CALL_PATH_HEADER, writeCallPath } from "../../protocol/call-path.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { A2AError } from "../../protocol/error.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { RemoteResult } from "../../wire/client/client-codec.ts";
import type { GrpcClientDialect } from "../../wire/client/load-grpc-client.ts";
import { FrameReader, frame } from "../../wire/grpc-frame.ts";
import type { CallContext, Channel, ChannelOptions, PreparedCall } from "../http/channel.ts";
import { RemoteError, remoteErrorOf } from "../http/errors.ts";
import { requireGenerations } from "../http/generations.ts";
import { idleWatch } from "../http/idle-watch.ts";
import { observedRequest, setTrace } from "../http/observed-request.ts";
import type { ClientSettings } from "../http/settings.ts";
import { grpcOrigin } from "./grpc-address.ts";
import { GrpcFrames } from "./grpc-frames.ts";
import { headError, statusError } from "./grpc-status.ts";
import { type Http2Answer, Http2Connection } from "./http2-connection.ts";

export interface GrpcChannelOptions {
  readonly card: AgentCard;
  readonly at: AgentInterface;
  readonly dialect: GrpcClientDialect;
  readonly settings: ClientSettings;
  /** Returns the signed members of an extended card, or throws. Absent: signatures are not checked. */
  readonly verify?: ChannelOptions["verify"];
}

const UNAUTHENTICATED = "16";

/** Calls an agent over gRPC. All calls share one connection. */
export function createGrpcChannel(options: GrpcChannelOptions): Channel {
  const { card, at, dialect, settings, verify } = options;
  const { codec } = dialect;
  const origin = grpcOrigin(at.url, card);
  if (origin === undefined) throw new RemoteError("no-interface", `The gRPC address ${at.url} is invalid.`);
  const connection = new Http2Connection(settings.clock);

  const send = (call: PreparedCall, context: CallContext): Promise<Http2Answer> =>
    observedRequest(settings, {
      call,
      signal: context.signal,
      send: (trace) => sendWithCredentials(call, context, trace),
      httpStatus: ({ status }) => status,
    });
  const sendWithCredentials = async (
    call: PreparedCall,
    context: CallContext,
    trace: TraceContext | undefined,
  ): Promise<Http2Answer> => {
    const attempt = async (challenge?: string | null): Promise<Http2Answer | undefined> => {
      const url = new URL(call.url);
      const headers = headersOf(options, call, context);
      setTrace(headers, trace);
      const again = challenge === undefined ? {} : { challenge: { status: 401, authenticate: challenge ?? undefined } };
      const isReady = await settings.authorize?.(
        { url, headers },
        { operation: call.operation, card, signal: context.signal, ...again },
      );
      if (challenge !== undefined && isReady === false) return undefined;
      await settings.guard?.(url);
      const body = call.body instanceof Uint8Array ? call.body : new Uint8Array();
      return connection.request({ url, headers, body, signal: context.signal });
    };
    const first = await attempt();
    if (first === undefined) throw new TypeError("The first attempt is always made.");
    if (settings.authorize === undefined || first.headers.get("grpc-status") !== UNAUTHENTICATED) return first;
    return (await attempt(first.headers.get("www-authenticate"))) ?? first;
  };

  return {
    dialect,
    at,
    prepare(asked) {
      try {
        const request = { ...asked, tenant: at.tenant ?? "" };
        requireGenerations(dialect, request);
        const { path, message } = codec.encodeRequest(request);
        const callPath = "callPath" in request ? request.callPath : undefined;
        return {
          operation: request.operation,
          method: "POST",
          url: `${origin}${path}`,
          body: frame(message),
          id: 0,
          callPath,
        };
      } catch (thrown) {
        throw thrown instanceof A2AError ? remoteErrorOf(thrown) : thrown;
      }
    },
    async ask(call, context) {
      const answer = await send(call, context);
      const refusal = headError(codec, call.operation, answer);
      if (refusal !== undefined) throw refusal;
      const message = await onlyMessage(answer, settings);
      const error = statusError(codec, call.operation, answer.trailers);
      if (error !== undefined) throw error;
      if (message === undefined) throw new RemoteError("invalid-agent-response", "The agent's answer has no message.");
      if (call.operation !== "extended-card" || verify === undefined)
        return result(() => codec.decodeResult(call.operation, message));
      const signed = await verify(codec.cardJson(message), context.signal);
      return result(() => codec.decodeCard(signed));
    },
    async open(call, context) {
      const idle = idleWatch(settings, context.signal);
      idle.touch();
      try {
        const answer = await send(call, { ...context, signal: idle.signal });
        const refusal = headError(codec, call.operation, answer);
        if (refusal !== undefined) throw refusal;
        return { kind: "stream", stream: new GrpcFrames({ answer, call, codec, settings, idle }) };
      } catch (thrown) {
        idle.stop();
        throw thrown;
      }
    },
    otherVerb: () => undefined,
  };
}

/** The message of an answer; `undefined` if it has none. */
async function onlyMessage(answer: Http2Answer, { maxResponseBytes }: ClientSettings): Promise<Uint8Array | undefined> {
  const reader = new FrameReader(maxResponseBytes);
  let message: Uint8Array | undefined;
  try {
    for (let chunk = await answer.next(); chunk !== undefined; chunk = await answer.next()) {
      reader.add(chunk);
      message ??= reader.next();
    }
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    answer.cancel();
    throw new RemoteError("response-too-large", `The agent's answer has more than ${maxResponseBytes} bytes.`);
  }
  return message;
}

function result(read: () => RemoteResult): RemoteResult {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof A2AError ? remoteErrorOf(thrown) : thrown;
  }
}

function headersOf({ dialect, settings }: GrpcChannelOptions, call: PreparedCall, { cursor }: CallContext): Headers {
  const headers = new Headers(settings.headers);
  headers.set("content-type", "application/grpc");
  headers.set("te", "trailers");
  if (dialect.versionHeader !== undefined) headers.set("a2a-version", dialect.versionHeader);
  if (dialect.extensionsHeader !== undefined && settings.extensions.length > 0)
    headers.set(dialect.extensionsHeader, settings.extensions.join(", "));
  if (cursor !== undefined) headers.set("last-event-id", cursor);
  if (call.callPath !== undefined) headers.set(CALL_PATH_HEADER, writeCallPath(call.callPath));
  return headers;
}
