import { A2AError } from "../protocol/error.ts";
import { BodyBuffer } from "./body/body-buffer.ts";
import { droppedBody, incompleteBody, tooLarge } from "./body/body-error.ts";
import type { ReserveBody } from "./body/body-memory.ts";
import { COMMON_HEADERS, type Exchange, type PullSource, type Reply, targetOf } from "./exchange.ts";
import { pathOf } from "./router.ts";

/** Serves exchanges as a web-standard `fetch` handler, for any host with `Request` and `Response`. */
export function createFetchHandler(
  handle: (exchange: Exchange) => Promise<Reply>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const reply = await handle(exchangeOf(request));
    const { status } = reply;
    const headers = { ...COMMON_HEADERS, ...reply.headers };
    if ("source" in reply) return new Response(readable(reply.source, request.signal), { status, headers });
    const body = request.method === "HEAD" || status === 204 || status === 304 ? null : reply.body;
    return new Response(body, { status, headers });
  };
}

/** Node's own server allows paths and queries of this many characters, which hold few parameters. */
const USUAL_LENGTH = 16_384;
const MAX_PARAMETERS = 1000;

/** True if a query has too many parameters: the time of `URLSearchParams` grows with the square of their number. */
function hasManyParameters(target: string): boolean {
  return target.length > USUAL_LENGTH && target.split("&", MAX_PARAMETERS + 1).length > MAX_PARAMETERS;
}

function manyParameters(): A2AError {
  return new A2AError("invalid-request", `The query must have at most ${MAX_PARAMETERS} parameters`);
}

function exchangeOf(request: Request): Exchange {
  const target = targetOf(request.url);
  const isRefused = hasManyParameters(target);
  return {
    method: request.method,
    // Do not parse the query, not even for the version in which to answer.
    target: isRefused ? pathOf(target) : target,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit, reserve) => readBody(request, limit, reserve),
    signal: request.signal,
    remote: undefined,
    fault: isRefused ? manyParameters() : undefined,
  };
}

async function readBody(
  { headers, body, bodyUsed }: Request,
  limit: number,
  reserve: ReserveBody,
): Promise<Uint8Array> {
  if (bodyUsed || body?.locked === true) {
    throw new Error("The body was already read: pass the request unread, or a clone() made before reading.");
  }
  const length = headers.get("content-length");
  const declared = length === null ? undefined : Number(length);
  if (declared !== undefined && declared > limit) throw tooLarge(limit);
  if (body === null) return new Uint8Array();
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  let isDropped = false;
  const dropped = (): void => {
    isDropped = true;
    // Also ends a pending read.
    reader.cancel(droppedBody()).catch(() => {});
  };
  const buffer = new BodyBuffer({ limit, declared, reserve, dropped });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isDropped) throw droppedBody();
      if (done) return buffer.finish();
      buffer.add(value);
    }
  } catch (cause) {
    buffer.release();
    reader.cancel(cause).catch(() => {});
    throw cause instanceof A2AError ? cause : incompleteBody(cause);
  }
}

function readable(source: PullSource, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  // Not every host cancels the body when the caller disconnects.
  if (signal.aborted) source.cancel();
  else signal.addEventListener("abort", () => source.cancel(), { once: true });
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        source.connected?.(() => controller.error(new Error("The reader read nothing for too long.")));
      },
      async pull(controller) {
        const chunk = await source.pull();
        if (chunk === undefined) controller.close();
        else controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      },
      cancel: () => source.cancel(),
    },
    // Produce nothing before it is requested.
    { highWaterMark: 0 },
  );
}
