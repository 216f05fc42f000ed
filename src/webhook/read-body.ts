import type { IncomingNotification } from "./contract.ts";

const RAW_BODY =
  "A signature covers the bytes as they came: pass { method, headers, body } with the raw body. In Express: express.raw({ type: () => true }) " +
  'on this route, before any express.json(); in Fastify: a content type parser with parseAs: "buffer"; elsewhere: request.arrayBuffer() before request.json().';

/** False for a parsed object, which only untyped callers can pass. */
function isRaw(body: unknown): body is string | Uint8Array | ReadableStream {
  return typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
}

function describe(body: unknown): string {
  if (body === undefined) return "There is no body.";
  return "The body is not raw: a body parser has turned it into an object.";
}

/**
 * Reads the whole body; `undefined` if it exceeds `maxBytes`. Rejects if the connection breaks, and with a `TypeError` if the raw bytes are
 * gone because other code has read or parsed them.
 */
export async function readBody(incoming: IncomingNotification, maxBytes: number): Promise<Uint8Array | undefined> {
  const { body } = incoming;
  if ("bodyUsed" in incoming && incoming.bodyUsed) throw new TypeError(`The body has been read already. ${RAW_BODY}`);
  if (body === null) return new Uint8Array();
  if (!isRaw(body)) throw new TypeError(`${describe(body)} ${RAW_BODY}`);
  if (!(body instanceof ReadableStream)) {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    return bytes.byteLength > maxBytes ? undefined : bytes;
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
