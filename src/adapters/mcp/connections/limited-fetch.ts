import { EventSizes } from "./event-sizes.ts";
import { CONNECTION_LOST, lostReply, MESSAGE_TOO_LARGE } from "./lost-reply.ts";

/** The server sent a message that is larger than allowed, or not UTF-8. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";

  constructor(limit: number, cause?: unknown) {
    super(`The MCP server sent a message of more than ${limit} bytes, or one that is not UTF-8.`, { cause });
  }
}

/** Redirects of one request. */
const MAX_REDIRECTS = 3;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for an MCP server. Redirects are followed only within the origin that the operator has configured, so that the server cannot direct requests and their
 * credentials elsewhere. A reply with more bytes than allowed fails. So does a stream with such an event, or that breaks off: the client would wait for the
 * result without end, so it gets an error as the result.
 */
export function limitedFetch(fetch: Fetch, maxMessage: number): Fetch {
  return async (url, init) => {
    const response = await withinOrigin(fetch, new URL(url), init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const body = isStream
      ? limitedEvents(response.body, { maxMessage, request: init?.method === "POST" ? init.body : undefined })
      : response.body.pipeThrough(limiter(maxMessage));
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

function limiter(maxMessage: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > maxMessage) controller.error(new MessageTooLarge(maxMessage));
      else controller.enqueue(chunk);
    },
  });
}

interface EventLimits {
  readonly maxMessage: number;
  /** The body of the request that the stream answers; absent if it answers none. */
  readonly request: unknown;
}

function limitedEvents(
  body: ReadableStream<Uint8Array>,
  { maxMessage, request }: EventLimits,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const sizes = new EventSizes();
  const end = (controller: ReadableStreamDefaultController<Uint8Array>, code: number): void => {
    const event = lostReply(request, code);
    if (event !== undefined) controller.enqueue(event);
    controller.close();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          // If the result was sent before, the client ignores the error. A stream with ids may be continued by another one.
          if (sizes.hasIds) controller.close();
          else end(controller, CONNECTION_LOST);
        } else if (sizes.add(value) > maxMessage) {
          end(controller, MESSAGE_TOO_LARGE);
          await reader.cancel();
        } else {
          controller.enqueue(value);
        }
      } catch {
        end(controller, CONNECTION_LOST);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
