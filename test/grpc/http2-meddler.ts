import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";

export const MEDDLINGS = ["socket", "reset", "goaway"] as const;
export type Meddling = (typeof MEDDLINGS)[number];

/** When and how to break a stream. */
export interface Plan {
  /** Bytes of the answer that pass before. */
  readonly after: number;
  readonly how: Meddling;
}

/**
 * An HTTP/2 proxy that breaks each stream as planned: the connection is cut, the stream is reset, or the server goes away. All streams share
 * one connection to the server, which is opened again when the server closes it.
 */
export class Http2Meddler {
  readonly #server: Http2Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: string;
  #upstream: ClientHttp2Session | undefined;
  /** How often each kind was done. */
  readonly done: Record<Meddling, number> = { socket: 0, reset: 0, goaway: 0 };
  /** Connections to the server. */
  connections = 0;
  /** Streams that the server broke or refused by itself, by the code of HTTP/2. */
  readonly brokenByServer: Record<number, number> = {};

  private constructor(target: string, plan: () => Plan | undefined) {
    this.#target = target;
    this.#server = createServer();
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    this.#server.on("session", (session) => session.on("error", () => undefined));
    this.#server.on("stream", (stream, headers) => this.#pass(stream, headers, plan()));
  }

  static async start(target: string, plan: () => Plan | undefined): Promise<Http2Meddler> {
    const proxy = new Http2Meddler(target, plan);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get breaks(): number {
    return MEDDLINGS.reduce((sum, how) => sum + this.done[how], 0);
  }

  get host(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy does not listen.");
    return `127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    this.#upstream?.destroy();
    this.#server.close();
    const closed = once(this.#server, "close");
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #connection(): ClientHttp2Session {
    const known = this.#upstream;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    this.connections += 1;
    const opened = connect(this.#target);
    opened.on("error", () => undefined);
    this.#upstream = opened;
    return opened;
  }

  #pass(stream: ServerHttp2Stream, incoming: Record<string, unknown>, plan: Plan | undefined): void {
    const { ":authority": _host, ":scheme": _scheme, ...headers } = incoming;
    const upstream = this.#connection().request(headers as Record<string, string>, { endStream: false });
    upstream.on("error", () => undefined);
    stream.on("error", () => undefined);
    stream.on("close", () => upstream.close(constants.NGHTTP2_CANCEL));
    upstream.on("close", () => {
      if (stream.closed || stream.destroyed || upstream.readableEnded) return;
      const code = upstream.rstCode ?? constants.NGHTTP2_INTERNAL_ERROR;
      this.brokenByServer[code] = (this.brokenByServer[code] ?? 0) + 1;
      stream.close(code === constants.NGHTTP2_NO_ERROR ? constants.NGHTTP2_INTERNAL_ERROR : code);
    });
    stream.pipe(upstream);
    let left = plan?.after ?? Number.POSITIVE_INFINITY;
    let trailers: Record<string, string> = {};
    upstream.on("response", (head) => {
      const { ":status": status = 200, ...rest } = head;
      if (!stream.destroyed) stream.respond({ ":status": status, ...rest }, { waitForTrailers: true });
    });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    upstream.on("trailers", (received) => {
      trailers = received as Record<string, string>;
    });
    upstream.on("data", (chunk: Buffer) => {
      if (stream.destroyed) return;
      if (chunk.length < left) {
        left -= chunk.length;
        stream.write(chunk);
        return;
      }
      stream.write(chunk.subarray(0, left), () => this.#break(stream, plan?.how ?? "reset"));
      left = Number.POSITIVE_INFINITY;
      upstream.removeAllListeners("data");
      upstream.resume();
    });
    upstream.on("end", () => {
      if (!stream.destroyed) stream.end();
    });
  }

  #break(stream: ServerHttp2Stream, how: Meddling): void {
    const { session } = stream;
    if (session === undefined || stream.destroyed) return;
    this.done[how] += 1;
    if (how === "socket") session.destroy();
    else if (how === "reset") stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else {
      session.goaway(constants.NGHTTP2_NO_ERROR);
      stream.close(constants.NGHTTP2_CANCEL);
    }
  }
}
