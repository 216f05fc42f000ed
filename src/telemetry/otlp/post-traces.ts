/** What a collector answered. */
export interface CollectorAnswer {
  readonly status: number;
  /** The header `retry-after`. */
  readonly retryAfter: string | null | undefined;
}

/** A request to a collector. */
export interface TracesRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, in pieces. They are not changed before the request has ended. */
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal;
}

/** Sends a request to a collector. Follows no redirect. Rejects if there is no answer. */
export type PostTraces = (request: TracesRequest) => Promise<CollectorAnswer>;

/** Sends with `fetch`. */
export function postWithFetch(send: typeof fetch): PostTraces {
  return async ({ url, headers, body, signal }) => {
    const response = await send(url, { method: "POST", headers, body: joined(body), signal, redirect: "error" });
    // Reading the whole answer leaves the connection open for the next request.
    await response.arrayBuffer();
    return { status: response.status, retryAfter: response.headers.get("retry-after") };
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
