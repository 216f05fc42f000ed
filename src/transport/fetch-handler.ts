import { A2AError } from "../protocol/error.ts";
import { incompleteBody, tooLarge } from "./body-error.ts";
import { type Exchange, type PullSource, type Reply, targetOf } from "./exchange.ts";

/** The web-standard face: mounts into anything that hands over a `Request` and takes a `Response`. */
export function createFetchHandler(
  handle: (exchange: Exchange) => Promise<Reply>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const reply = await handle(exchangeOf(request));
    const { status, headers } = reply;
    if ("source" in reply) return new Response(readable(reply.source, request.signal), { status, headers });
    const body = request.method === "HEAD" || status === 204 || status === 304 ? null : reply.body;
    return new Response(body, { status, headers });
  };
}

function exchangeOf(request: Request): Exchange {
  return {
    method: request.method,
    target: targetOf(request.url),
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit) => readBody(request, limit),
    signal: request.signal,
    remote: undefined,
  };
}

async function readBody({ headers, body, bodyUsed }: Request, limit: number): Promise<Uint8Array> {
  if (bodyUsed || body?.locked === true) {
    throw new Error("The body was read before: hand over the request unread, or a clone() made before it was.");
  }
  if (Number(headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const pieces: AsyncIterable<Uint8Array> | null = body;
  if (pieces === null) return new Uint8Array();
  try {
    for await (const chunk of pieces) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cause instanceof A2AError ? cause : incompleteBody(cause);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

function readable(source: PullSource, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  // Not every host cancels the body of a caller that is gone.
  if (signal.aborted) source.cancel();
  else signal.addEventListener("abort", () => source.cancel(), { once: true });
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        source.connected?.(() => controller.error(new Error("The reader took nothing for too long.")));
      },
      async pull(controller) {
        const chunk = await source.pull();
        if (chunk === undefined) controller.close();
        else controller.enqueue(encoder.encode(chunk));
      },
      cancel: () => source.cancel(),
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
}
