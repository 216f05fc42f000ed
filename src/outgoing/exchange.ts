import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { OutgoingFailure, OutgoingRefused } from "./errors.ts";
import type { GuardedAgents } from "./guarded-agents.ts";
import { bareHost } from "./rules.ts";

/** One request to be sent. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
  /** Aborts the request, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called when the connection is open, before anything is sent on it. */
  readonly beforeSend: (() => void) | undefined;
}

/** Hop-by-hop headers, and headers that would misrepresent the request. */
const NOT_FORWARDED: readonly string[] = [
  ...["connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "accept-encoding"],
];

/** The protocol of a TLS connection after its handshake; before it, `unknown` or none. */
const TLS_VERSION = /^TLSv/;

/** Sends one request and resolves with the head of the answer. The caller must read or destroy its body. */
export async function exchange(request: OutgoingRequest, agents: GuardedAgents): Promise<IncomingMessage> {
  try {
    return await attempt(request, agents);
  } catch (error) {
    // The server may have closed an idle connection at the moment it was reused.
    const isStale = error instanceof StaleConnection;
    if (isStale && (request.method === "GET" || request.method === "HEAD")) return attempt(request, agents);
    throw isStale ? error.failure : error;
  }
}

/** A reused connection closed before any answer. */
class StaleConnection extends Error {
  readonly failure: Error;

  constructor(failure: Error) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Rejects with `OutgoingRefused`, `OutgoingFailure`, `StaleConnection`, or the signal's reason. */
function attempt(request: OutgoingRequest, agents: GuardedAgents): Promise<IncomingMessage> {
  const { url, method, body, signal, beforeSend } = request;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const options = {
      method,
      hostname: bareHost(url.hostname),
      port: url.port,
      path: `${url.pathname}${url.search}`,
      headers: { ...headersOf(request), host: url.host },
    };
    const sent =
      url.protocol === "https:"
        ? requestHttps({ ...options, agent: agents["https:"] })
        : requestHttp({ ...options, agent: agents["http:"] });
    const abort = (): void => void sent.destroy(asError(signal.reason));
    signal.addEventListener("abort", abort, { once: true });
    sent.once("close", () => {
      signal.removeEventListener("abort", abort);
      // Closed without an answer and without an error, for example after an upgrade.
      reject(new OutgoingFailure("broken", `${url.host} closed the connection before it answered.`));
    });
    sent.once("response", resolve);
    sent.on("error", (error) => reject(signal.aborted ? signal.reason : failureOf(error, sent, url)));
    if (beforeSend === undefined) sent.end(body);
    else
      sent.once("socket", (socket) => {
        // Before `end`, nothing is sent.
        whenOpen(socket, () => {
          beforeSend();
          if (!signal.aborted) sent.end(body);
        });
      });
  });
}

/** Calls `ready` when the connection is open, with TLS after the handshake; at once if it is. */
function whenOpen(socket: Socket, ready: () => void): void {
  if (socket instanceof TLSSocket) {
    const hasHandshake = !socket.connecting && TLS_VERSION.test(socket.getProtocol() ?? "");
    if (hasHandshake) ready();
    else socket.once("secureConnect", ready);
  } else if (socket.connecting) socket.once("connect", ready);
  else ready();
}

/** `identity`, because answers are not decompressed here. */
function headersOf({ headers, body, method }: OutgoingRequest): Readonly<Record<string, string>> {
  const kept = [...headers].filter(([name]) => !NOT_FORWARDED.includes(name));
  const hasBody = body !== undefined || (method !== "GET" && method !== "HEAD");
  return {
    accept: "*/*",
    ...Object.fromEntries(kept),
    "accept-encoding": "identity",
    ...(hasBody && { "content-length": String(body?.byteLength ?? 0) }),
  };
}

function failureOf(error: Error, sent: ClientRequest, url: URL): Error {
  const known = ownError(error);
  if (known !== undefined) return known;
  const failure = networkFailure(error, url);
  return sent.reusedSocket ? new StaleConnection(failure) : failure;
}

/** An error that this module threw itself, also inside the `AggregateError` of several failed addresses. */
function ownError(error: Error): Error | undefined {
  if (error instanceof OutgoingRefused || error instanceof OutgoingFailure) return error;
  return error instanceof AggregateError ? error.errors.find((one) => one instanceof OutgoingRefused) : undefined;
}

/** A network error. `cause` has the details for logs. */
export function networkFailure(error: Error, url: URL): OutgoingFailure {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const isBroken = code === "ECONNRESET" || code === "EPIPE" || code?.startsWith("HPE_") === true;
  const reason = code === undefined ? "" : ` (${code})`;
  return isBroken
    ? new OutgoingFailure("broken", `${url.host} closed the connection before it answered${reason}.`, { cause: error })
    : new OutgoingFailure("unreachable", `${url.host} cannot be reached${reason}.`, { cause: error });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted");
}
