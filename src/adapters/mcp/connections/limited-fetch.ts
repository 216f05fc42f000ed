/** The server sent a message that is larger than allowed, or not UTF-8. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";

  constructor(limit: number, cause?: unknown) {
    super(`The MCP server sent a message of more than ${limit} bytes, or one that is not UTF-8.`, { cause });
  }
}

/** Redirects of one request. */
const MAX_REDIRECTS = 3;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchLimits {
  /** Bytes of one message. */
  readonly maxMessage: number;
  /** Called with the error that ends a reply. */
  readonly onFailure: (error: Error) => void;
}

/**
 * `fetch` for an MCP server. Redirects are followed only within the origin that the operator has configured, so that the server cannot direct requests and their
 * credentials elsewhere. A reply, or an event of a stream, with more bytes than allowed fails.
 */
export function limitedFetch(fetch: Fetch, { maxMessage, onFailure }: FetchLimits): Fetch {
  return async (url, init) => {
    const response = await withinOrigin(fetch, new URL(url), init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const body = response.body.pipeThrough(limiter({ isStream, maxMessage, onFailure }));
    return new Response(body, response);
  };
}

async function withinOrigin(fetch: Fetch, first: URL, init: RequestInit | undefined): Promise<Response> {
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(url, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    url = new URL(location, url);
    const isAllowed = url.origin === first.origin && (init?.method === "GET" || [307, 308].includes(response.status));
    if (!isAllowed || redirects === MAX_REDIRECTS)
      throw new Error(`The MCP server redirects with status ${response.status}, which is not followed.`);
  }
}

interface Limiter extends FetchLimits {
  readonly isStream: boolean;
}

/** Passes bytes on, and fails if a message has too many. Events of a stream are separated by empty lines. */
function limiter({ isStream, maxMessage, onFailure }: Limiter): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let isLineEmpty = true;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      let start = 0;
      if (isStream) {
        for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, start)) {
          if (at > start && !(at === start + 1 && chunk[start] === RETURN)) isLineEmpty = false;
          size = isLineEmpty ? 0 : size + at - start;
          isLineEmpty = true;
          start = at + 1;
        }
        if (start < chunk.length) isLineEmpty = false;
      }
      size += chunk.length - start;
      if (size <= maxMessage) {
        controller.enqueue(chunk);
        return;
      }
      const error = new MessageTooLarge(maxMessage);
      onFailure(error);
      controller.error(error);
    },
  });
}
