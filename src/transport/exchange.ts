import type { ClientCertificate } from "../auth/verify/contract.ts";
import type { A2AError } from "../protocol/error.ts";
import type { ReserveBody } from "./body/body-memory.ts";

/** One HTTP request, independent of the server library. */
export interface Exchange {
  readonly method: string;
  /** Path and query as sent, starting with a slash. */
  readonly target: string;
  /** The value of a header, whose name must be in lower case. Repeated headers are joined by commas. */
  header(name: string): string | undefined;
  /**
   * The whole body. Rejects with `payload-too-large` as soon as it exceeds `limit` bytes, and with `unavailable` if it is dropped in favour of
   * faster bodies. `reserve` counts its memory while it arrives. `check` is for HTTP/2 only. Call it at most once.
   */
  body(limit: number, reserve: ReserveBody, check?: BodyCheck): Promise<Uint8Array>;
  /** Aborts if the caller disconnects before the answer is complete. */
  readonly signal: AbortSignal;
  /** The network address of the direct peer, if known. */
  readonly remote: string | undefined;
  /** The caller's certificate, if the connection trusts it. */
  readonly certificate?: ClientCertificate | undefined;
  /** The request came over HTTP/2, so its answer may have trailers. */
  readonly isHttp2?: boolean;
  /** The body piece by piece, instead of `body`; over HTTP/2 only. Whoever reads it bounds it. */
  chunks?(): AsyncIterable<Uint8Array>;
  /** Aborts `signal`, as if the caller had disconnected: its deadline has passed. */
  abort?(): void;
  /** Refuses the request with 400 before any other check, because a proxy may parse it differently. */
  readonly fault?: A2AError | undefined;
}

/** Refuses a body by its first bytes, before the rest arrives. */
export interface BodyCheck {
  /** How many bytes it needs. */
  readonly bytes: number;
  /** Throws to refuse the body. */
  accept(start: Uint8Array): void;
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
  /** Headers to send after the body; over HTTP/2 only. */
  readonly trailers?: Headers;
}

export interface StreamReply {
  readonly status: number;
  readonly headers: Headers;
  readonly source: PullSource;
  /** `latin1`: the strings of the source are bytes, one character each. Absent: they are text. */
  readonly encoding?: "latin1";
  /** Headers to send after the body; over HTTP/2 only. Called at the end. */
  readonly trailers?: () => Headers;
}

/** The next piece is not there yet. */
export const NOT_YET: unique symbol = Symbol("not yet");

/** A body produced piece by piece, each only after the connection has accepted the one before. */
export interface PullSource<Piece extends BodyData = BodyData> {
  /**
   * The next piece; `undefined` at the end. Not called again before the last call has settled. Rejects if the rest cannot be produced: the
   * connection is then closed, so that the reader notices that the body is incomplete.
   */
  pull(): Piece | undefined | Promise<Piece | undefined>;
  /**
   * As `pull`, for a reader that can be called back: if nothing is there, it may return {@link NOT_YET} instead of a promise, and later calls
   * `ready` once; the reader then calls `poll` again.
   */
  poll?(ready: () => void): Piece | undefined | Promise<Piece | undefined> | typeof NOT_YET;
  /** The reader is gone. Idempotent, also after the end. */
  cancel(): void;
  /** Called once, before the first `pull`. The source may call `disconnect` if its reader reads nothing. */
  connected?(disconnect: () => void): void;
}

/** Sent with every answer: browsers must not guess another content type. */
export const COMMON_HEADERS: Headers = { "x-content-type-options": "nosniff" };

/** Sent with every answer over TLS: browsers use only HTTPS for this host for a year. */
export const HSTS = "strict-transport-security";
export const HSTS_VALUE = "max-age=31536000";

const JSON_HEADERS: Headers = { "content-type": "application/json" };

export function jsonReply(status: number, body: string, headers?: Headers): FullReply {
  return { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, body };
}

/** The path and query of a request line or URL. */
export function targetOf(url: string): string {
  if (url.startsWith("/")) return url;
  const scheme = url.indexOf("://");
  if (scheme === -1) return "/";
  const path = url.indexOf("/", scheme + 3);
  const query = url.indexOf("?", scheme + 3);
  if (path !== -1 && (query === -1 || path < query)) return url.slice(path);
  return query === -1 ? "/" : `/${url.slice(query)}`;
}
