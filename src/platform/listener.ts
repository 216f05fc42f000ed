import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { urlOf } from "./listen-url.ts";
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
  readonly head: number;
  readonly whole: number;
}

/** Milliseconds. Longer than proxies commonly keep idle connections, so the proxy closes first. */
const KEEP_ALIVE = 65_000;
/** Milliseconds between two checks for slow requests. */
const CHECKING_INTERVAL = 1000;
/** Milliseconds for responses in progress when the listener closes. */
const LAST_ANSWERS = 2000;

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTP or HTTPS server on one port. */
export class Listener {
  readonly #server: ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>;
  readonly #scheme: "http" | "https";
  #url: string | undefined;

  constructor(handler: NodeHandler, timeouts: ArrivalTimeouts, tls?: ServingTls) {
    const options = {
      keepAliveTimeout: KEEP_ALIVE,
      headersTimeout: timeouts.head,
      requestTimeout: timeouts.whole,
      connectionsCheckingInterval: Math.min(CHECKING_INTERVAL, timeouts.head),
    };
    this.#scheme = tls === undefined ? "http" : "https";
    this.#server =
      tls === undefined
        ? createServer(options, handler)
        : createTlsServer({ ...options, ...tls, handshakeTimeout: timeouts.head }, overTls(handler));
  }

  /** `undefined` until it listens. */
  get url(): string | undefined {
    return this.#url;
  }

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

  /** Accepts no more connections, lets responses in progress finish for 2 s, and cuts the rest. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeIdleConnections();
    const patience = new AbortController();
    await Promise.race([closed, sleep(LAST_ANSWERS, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** HSTS: browsers use only HTTPS for this host for a year. */
function overTls(handler: NodeHandler): NodeHandler {
  return (request, response) => {
    response.setHeader("strict-transport-security", "max-age=31536000");
    handler(request, response);
  };
}

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
