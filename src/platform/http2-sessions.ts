import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

export interface SessionTimeouts {
  /** Milliseconds until the first request of a connection must have arrived. */
  readonly head: number;
  /** Milliseconds until a whole request must have arrived. */
  readonly whole: number;
  /** Milliseconds that a connection may stay without requests. */
  readonly idle: number;
}

/** Milliseconds between two pings on a connection with open requests, which keep it alive; the next must find the last answered. */
const PING_INTERVAL = 30_000;

/**
 * Bytes of answers that the callers of a connection may cancel before it is replaced. Node counts them as memory of the connection for ever,
 * and refuses new requests when `maxSessionMemory` is reached.
 */
const MAX_CANCELLED_BYTES = 8 * 1024 * 1024;

interface Session {
  /** When the connection was opened, or its last request ended. By `performance.now()`. */
  since: number;
  /** Requests so far. */
  requests: number;
  readonly streams: Map<ServerHttp2Stream, number>;
  pingedAt: number;
  isPingAnswered: boolean;
  /** Bytes of cancelled answers. */
  cancelledBytes: number;
}

/** The connections of an HTTP/2 server: Node's own HTTP/2 server has no time-outs for requests. */
export class Http2Sessions {
  readonly #server: Http2Server;
  readonly #sessions = new Map<ServerHttp2Session, Session>();
  /** All connections; with the time of the first check after the server has ended its side. */
  readonly #sockets = new Map<Socket, number | undefined>();
  readonly #timeouts: SessionTimeouts;
  readonly #timer: NodeJS.Timeout;

  constructor(server: Http2Server, timeouts: SessionTimeouts, checkingInterval: number) {
    this.#server = server;
    this.#timeouts = timeouts;
    server.on("session", (session: ServerHttp2Session) => this.#add(session));
    this.#timer = setInterval(() => this.#check(), checkingInterval).unref();
  }

  /** Serves a new connection. */
  accept(socket: Socket): void {
    this.#sockets.set(socket, undefined);
    socket.on("close", () => this.#sockets.delete(socket));
    this.#server.emit("connection", socket);
  }

  /** Sends GOAWAY: open requests may finish, new ones must use another connection. */
  drain(): void {
    clearInterval(this.#timer);
    for (const session of this.#sessions.keys()) session.close();
  }

  /** Cuts all connections. */
  destroy(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  #add(session: ServerHttp2Session): void {
    const now = performance.now();
    const known: Session = {
      since: now,
      requests: 0,
      streams: new Map(),
      pingedAt: now,
      isPingAnswered: true,
      cancelledBytes: 0,
    };
    this.#sessions.set(session, known);
    session.on("error", ignore);
    session.on("close", () => this.#sessions.delete(session));
    session.on("stream", (stream: ServerHttp2Stream) => {
      known.requests += 1;
      known.streams.set(stream, performance.now());
      stream.on("close", () => {
        known.streams.delete(stream);
        known.since = performance.now();
        if (stream.writableLength > 0) addCancelled(session, known, stream.writableLength);
      });
    });
  }

  #check(): void {
    const now = performance.now();
    for (const [socket, endedAt] of this.#sockets) this.#closeEnded(socket, endedAt, now);
    for (const [session, known] of this.#sessions) {
      // Its connection stays until the caller has closed its side.
      if (session.destroyed) continue;
      if (known.streams.size === 0) this.#closeIdle(session, known, now);
      else {
        for (const [stream, startedAt] of known.streams) this.#closeSlow(stream, now - startedAt);
        keepAlive(session, known, now);
      }
    }
  }

  /** A caller that never closes its side must not hold the connection for ever. */
  #closeEnded(socket: Socket, endedAt: number | undefined, now: number): void {
    if (!socket.writableEnded) return;
    if (endedAt === undefined) this.#sockets.set(socket, now);
    else if (now - endedAt >= this.#timeouts.head) socket.destroy();
  }

  #closeIdle(session: ServerHttp2Session, { since, requests }: Session, now: number): void {
    const { head, idle } = this.#timeouts;
    if (now - since < (requests === 0 ? head : idle)) return;
    // The caller may have sent part of a request, so a polite end might never come.
    session.goaway(constants.NGHTTP2_NO_ERROR);
    session.destroy();
  }

  /** The body of a request takes too long to arrive. */
  #closeSlow(stream: ServerHttp2Stream, age: number): void {
    if (age < this.#timeouts.whole || stream.readableEnded || stream.destroyed || stream.closed) return;
    if (!stream.headersSent) stream.respond({ ":status": 408 }, { endStream: true });
    stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** A peer that does not answer a ping is gone, although its connection looks open. */
function keepAlive(session: ServerHttp2Session, known: Session, now: number): void {
  if (now - known.pingedAt < PING_INTERVAL) return;
  if (!known.isPingAnswered) {
    session.destroy();
    return;
  }
  known.pingedAt = now;
  known.isPingAnswered = false;
  const isSent = session.ping(() => {
    known.isPingAnswered = true;
  });
  if (!isSent) known.isPingAnswered = true;
}

/** Beyond the limit, GOAWAY sends the caller to a new connection. Its open requests may finish. */
function addCancelled(session: ServerHttp2Session, known: Session, bytes: number): void {
  known.cancelledBytes += bytes;
  if (known.cancelledBytes > MAX_CANCELLED_BYTES && !session.destroyed) session.close();
}

/** The `close` event follows. */
function ignore(): void {}
