import type { ClientCertificate } from "../auth/verify/contract.ts";
import type { A2AError } from "../protocol/error.ts";
import type { ReserveBody } from "./body/body-memory.ts";

/** One HTTP request, whatever brought it. */
export interface Exchange {
  readonly method: string;
  /** Path and query as sent, starting with a slash. */
  readonly target: string;
  /** The header's value; several are joined by commas. The name must be in lower case. */
  header(name: string): string | undefined;
  /**
   * The whole body. Rejects with `payload-too-large` as soon as it exceeds `limit` bytes, and with `unavailable` if it must make room for
   * faster ones. `reserve` counts its memory while it arrives. At most one call.
   */
  body(limit: number, reserve: ReserveBody): Promise<Uint8Array>;
  /** Aborts when the caller is gone before the answer is complete. */
  readonly signal: AbortSignal;
  /** The caller's network address, where known. */
  readonly remote: string | undefined;
  /** The certificate that the caller has shown and the connection trusts. */
  readonly certificate?: ClientCertificate | undefined;
  /** Why the request is refused with 400 before anything else is looked at: a proxy may understand it differently. */
  readonly fault?: A2AError | undefined;
}

export type Headers = Readonly<Record<string, string>>;

/** Body data: text, or bytes for bindings that are not text. */
export type BodyData = string | Uint8Array<ArrayBuffer>;

/** The answer: a whole body, or a source to be pulled until it ends. */
export type Reply = FullReply | StreamReply;

export interface FullReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: BodyData;
}

export interface StreamReply {
  readonly status: number;
  readonly headers: Headers;
  readonly source: PullSource;
}

/** A body produced piece by piece, each only after the connection has accepted the one before. */
export interface PullSource<Piece extends BodyData = BodyData> {
  /**
   * The next piece; `undefined` at the end. Not called again before the last call has settled. Rejects where the rest cannot be made: the
   * connection is broken off, so that its reader does not take what it has for all there is.
   */
  pull(): Piece | undefined | Promise<Piece | undefined>;
  /** Nobody reads on. Idempotent, also after the end. */
  cancel(): void;
  /** Called once, before the first `pull`, with how to break the connection off, for a source whose reader takes nothing. */
  connected?(disconnect: () => void): void;
}

/** Sent with every answer: browsers must not take it for another type than it says. */
export const COMMON_HEADERS: Headers = { "x-content-type-options": "nosniff" };

const JSON_HEADERS: Headers = { "content-type": "application/json" };

export function jsonReply(status: number, body: string, headers?: Headers): FullReply {
  return { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, body };
}

/** Path and query of a request line or URL. */
export function targetOf(url: string): string {
  if (url.startsWith("/")) return url;
  const scheme = url.indexOf("://");
  if (scheme === -1) return "/";
  const path = url.indexOf("/", scheme + 3);
  const query = url.indexOf("?", scheme + 3);
  if (path !== -1 && (query === -1 || path < query)) return url.slice(path);
  return query === -1 ? "/" : `/${url.slice(query)}`;
}
