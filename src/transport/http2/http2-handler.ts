import { constants, type ServerHttp2Stream } from "node:http2";
import {
  COMMON_HEADERS,
  type Exchange,
  type FullReply,
  type Headers,
  HSTS,
  HSTS_VALUE,
  type Reply,
} from "../exchange.ts";
import { StreamPump } from "../node/stream-pump.ts";
import { Http2Exchange, type Http2Request } from "./http2-exchange.ts";

/** Answers one request of an HTTP/2 server. */
export type Http2Handler = (request: Http2Request) => void;

/** Serves exchanges over `node:http2`. */
export function createHttp2Handler(handle: (exchange: Exchange) => Promise<Reply>): Http2Handler {
  return (request) => {
    const { stream } = request;
    const exchange = new Http2Exchange(request);
    stream.on("error", ignore);
    stream.on("close", () => exchange.closed(stream.writableFinished));
    void handle(exchange).then((reply) => {
      // Node throws if an answer begins on a stream that its caller has reset.
      if (stream.destroyed || stream.closed) cancel(reply);
      else write(exchange.method === "HEAD" ? withoutBody(reply) : reply, stream);
    });
  };
}

function cancel(reply: Reply): void {
  if ("source" in reply) reply.source.cancel();
}

/** Node ends the answer to a `HEAD` request by itself. */
function withoutBody({ status, headers }: Reply): FullReply {
  return { status, headers, body: "" };
}

function write(reply: Reply, stream: ServerHttp2Stream): void {
  if ("source" in reply) {
    const { source, trailers, encoding } = reply;
    new StreamPump(source, {
      sink: stream,
      encoding,
      begin: () => begin(stream, reply, trailers),
      breakOff: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    }).start();
    return;
  }
  const { trailers } = reply;
  const body = bodyOf(reply);
  if (body === undefined) {
    stream.respond(headOf(stream, reply), { endStream: true });
    stopReading(stream);
    return;
  }
  begin(stream, reply, trailers === undefined ? undefined : () => trailers);
  stream.end(body);
}

/** The bytes of an answer; `undefined` for an answer without a body. */
function bodyOf({ status, body }: FullReply): Uint8Array | undefined {
  if (status === 204 || status === 304 || body.length === 0) return undefined;
  return typeof body === "string" ? Buffer.from(body) : body;
}

function headOf(
  stream: ServerHttp2Stream,
  { status, headers }: Pick<Reply, "status" | "headers">,
): Record<string, string | number> {
  const head = { ":status": status, ...COMMON_HEADERS, ...headers };
  return stream.session?.encrypted === true ? { ...head, [HSTS]: HSTS_VALUE } : head;
}

/** Sends the head. Once the body is sent, sends the trailers, and tells the caller not to send more of its own body. */
function begin(
  stream: ServerHttp2Stream,
  head: Pick<Reply, "status" | "headers">,
  trailers: (() => Headers) | undefined,
): void {
  if (trailers === undefined) {
    stream.respond(headOf(stream, head));
    stream.once("finish", () => stopReading(stream));
    return;
  }
  stream.respond(headOf(stream, head), { waitForTrailers: true });
  stream.once("wantTrailers", () => {
    if (stream.destroyed || stream.closed) return;
    stream.sendTrailers(trailers());
    stopReadingOnceSent(stream);
  });
}

/** RFC 9113 §8.1: a server that has answered resets the stream without an error, so that the caller stops sending its body. */
function stopReading(stream: ServerHttp2Stream): void {
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}

/** Milliseconds between two looks at whether the trailers are written. */
const TRAILERS_INTERVAL = 10;

/** A reset would overtake trailers that wait to be written, and the caller would never see the status. */
function stopReadingOnceSent(stream: ServerHttp2Stream): void {
  if (stream.readableEnded || stream.destroyed || stream.closed) return;
  if (stream.state.localClose === 1) stopReading(stream);
  else setTimeout(stopReadingOnceSent, TRAILERS_INTERVAL, stream).unref();
}

/** The `close` event reports a connection that breaks during a write. */
function ignore(): void {}
