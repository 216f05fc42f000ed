import type { IncomingNotification } from "./contract.ts";

/** The whole body; `undefined` as soon as it has more bytes than it may. Rejects where the connection breaks. */
export async function readBody(incoming: IncomingNotification, maxBytes: number): Promise<Uint8Array | undefined> {
  const { body } = incoming;
  if (body === null) return new Uint8Array();
  if (!(body instanceof ReadableStream)) {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    return bytes.byteLength > maxBytes ? undefined : bytes;
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Ends the stream where it is left early.
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
