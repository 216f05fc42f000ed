import { once } from "node:events";
import { createServer as createHttp1Server, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { HSTS, HSTS_VALUE } from "../transport/exchange.ts";
import type { Http2Handler } from "../transport/http2/http2-handler.ts";
import { Http2Sessions } from "./http2-sessions.ts";
import { urlOf } from "./listen-url.ts";
import { ProtocolSwitch, type Protocols } from "./protocol-switch.ts";
import type { ServingTls } from "./security/security-tls.ts";
import { messageOf, StartupError, systemCode } from "./startup-error.ts";

/** The address of a listening server. */
export interface ListeningAt {
  /** The configured host. */
  readonly host: string;
  /** The actual port. */
  readonly port: number;
  /** URL of the server on this machine, without a trailing slash. */
  readonly url: string;
}

/** How long requests may take to arrive, in milliseconds. Slower ones get a 408, and their connections are closed. */
export interface ArrivalTimeouts {
  /** Until all headers have arrived. */
  readonly head: number;
  /** Until the body has arrived as well. At least `head`. */
  readonly whole: number;
}

/** Milliseconds. Longer than proxies commonly keep idle connections, so the proxy closes first. */
const KEEP_ALIVE = 65_000;
/** Milliseconds between two checks for slow requests. */
const CHECKING_INTERVAL = 1000;
/** Milliseconds for responses in progress when the listener closes. */
const LAST_ANSWERS = 2000;
/** Milliseconds between two checks for connections whose response has ended, while the listener closes. */
const IDLE_CHECK = 50;

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The handlers of one port. */
export interface PortHandlers {
  readonly http1: NodeHandler;
  readonly http2: Http2Handler;
}

/**
 * A server for HTTP/1 and HTTP/2 on one port, in clear text or with TLS. In clear text the first bytes of a connection decide, with TLS
 * what both sides agreed on (ALPN).
 */
export class Listener {
  readonly #server: TcpServer;
  readonly #http1: Server;
  readonly #sessions: Http2Sessions;
  /** In clear text only. */
  readonly #switch: ProtocolSwitch | undefined;
  /** With TLS only: all connections, also before their handshake is complete. */
  readonly #tlsSockets = new Set<Socket>();
  readonly #scheme: "http" | "https";
  #url: string | undefined;

  constructor(handlers: PortHandlers, timeouts: ArrivalTimeouts, tls?: ServingTls) {
    const checkingInterval = Math.min(CHECKING_INTERVAL, timeouts.head);
    this.#scheme = tls === undefined ? "http" : "https";
    this.#http1 = createHttp1Server(
      {
        keepAliveTimeout: KEEP_ALIVE,
        headersTimeout: timeouts.head,
        requestTimeout: timeouts.whole,
        connectionsCheckingInterval: checkingInterval,
      },
      tls === undefined ? handlers.http1 : overTls(handlers.http1),
    );
    // A server that does not listen itself would not check its time-outs.
    this.#http1.emit("listening");
    const http2 = createHttp2Server(HTTP2_LIMITS);
    http2.on("stream", (...[stream, headers, , rawHeaders]: StreamEvent) =>
      handlers.http2({ stream, headers, rawHeaders }),
    );
    http2.on("sessionError", ignore);
    this.#sessions = new Http2Sessions(http2, { ...timeouts, idle: KEEP_ALIVE }, checkingInterval);
    const protocols: Protocols = {
      http1: (socket) => this.#http1.emit("connection", socket),
      http2: (socket) => this.#sessions.accept(socket),
    };
    if (tls === undefined) {
      this.#switch = new ProtocolSwitch(protocols, timeouts.head, checkingInterval);
      this.#server = createTcpServer({ noDelay: true }, this.#switch.add);
      return;
    }
    const options = { ...tls, ...TLS_OPTIONS, handshakeTimeout: timeouts.head };
    this.#server = createTlsServer(options, (socket: TLSSocket) => {
      protocols[socket.alpnProtocol === "h2" ? "http2" : "http1"](socket);
    });
    // Node leaves a connection open whose handshake takes too long.
    this.#server.on("tlsClientError", (_error, socket: TLSSocket) => socket.destroy());
    this.#server.on("connection", (socket: Socket) => {
      this.#tlsSockets.add(socket);
      socket.on("close", () => this.#tlsSockets.delete(socket));
    });
  }

  /** `undefined` until it listens. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Port 0 picks a free one. Rejects with a {@link StartupError} that says what to do. */
  async listen(host: string, port: number): Promise<ListeningAt> {
    try {
      this.#server.listen({ host, port });
      await once(this.#server, "listening");
    } catch (error) {
      throw new StartupError("failed", explain(error, host, port), { cause: error });
    }
    const address = this.#server.address();
    const actual = typeof address === "object" && address !== null ? address.port : port;
    this.#url = urlOf(host, actual, this.#scheme);
    return { host, port: actual, url: this.#url };
  }

  /** Accepts no more connections and requests, lets responses in progress finish for 2 s, and cuts the rest. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#switch?.close();
    this.#http1.close();
    this.#http1.closeIdleConnections();
    this.#sessions.drain();
    // Node keeps a connection open whose response ends after this, because the response's headers promised it.
    const idle = setInterval(() => this.#http1.closeIdleConnections(), IDLE_CHECK);
    const patience = new AbortController();
    await Promise.race([closed, sleep(LAST_ANSWERS, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    clearInterval(idle);
    this.#http1.closeAllConnections();
    this.#sessions.destroy();
    for (const socket of this.#tlsSockets) socket.destroy();
    await closed;
  }
}

type StreamEvent = [stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]];

/** Bounds for callers that misuse HTTP/2. Node closes a connection beyond them. */
const HTTP2_LIMITS: ServerOptions = {
  settings: { maxConcurrentStreams: 250, maxHeaderListSize: 16_384 },
  maxHeaderListPairs: 100,
  maxSessionInvalidFrames: 50,
  maxSessionRejectedStreams: 50,
  maxSettings: 16,
  maxSessionMemory: 16,
  unknownProtocolTimeout: 1000,
  // A caller, or a proxy for many, may cancel all of its streams at once.
  streamResetBurst: 1000,
  streamResetRate: 33,
};

const TLS_OPTIONS = { ALPNProtocols: ["h2", "http/1.1"] };

function overTls(handler: NodeHandler): NodeHandler {
  return (request, response) => {
    response.setHeader(HSTS, HSTS_VALUE);
    handler(request, response);
  };
}

/** The connection is closed, which its own events report. */
function ignore(): void {}

/** The reason and the remedy, for the operator. */
function explain(error: unknown, host: string, port: number): string {
  switch (systemCode(error)) {
    case "EADDRINUSE":
      return `Port ${port} on ${host} is in use by another program.\nStop that program, or choose another port with --port or PORT.`;
    case "EACCES":
      return `Port ${port} on ${host} needs permissions that this process does not have.\nChoose a port above 1023 with --port or PORT.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not an address of this machine.\nChoose an address with --host or BIND_HOST: 127.0.0.1 for this machine only, 0.0.0.0 for all.`;
    default:
      return `Could not listen on ${host}, port ${port}: ${messageOf(error)}`;
  }
}
