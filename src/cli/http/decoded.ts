import type { IncomingMessage } from "node:http";
import type { Duplex, Readable } from "node:stream";

/** Statuses without a body, whatever their headers say. */
const WITHOUT_BODY: ReadonlySet<number | undefined> = new Set([204, 205, 304]);

/** The body without the codings of `Content-Encoding` (RFC 9110 §8.4), each piece as soon as it arrives. Bodies in unknown codings stay as they are. */
export function decoded(incoming: IncomingMessage, contentEncoding: string | null): Readable {
  if (contentEncoding === null || WITHOUT_BODY.has(incoming.statusCode)) return incoming;
  const codings = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase());
  const decoders = codings.filter((coding) => coding !== "identity").map(decoderOf);
  if (!decoders.every((decoder) => decoder !== undefined)) return incoming;
  const { pipeline } = process.getBuiltinModule("node:stream");
  // The last coding was applied last. The error of a broken connection arrives through the decoders.
  return decoders.reverse().reduce<Readable>((from, to) => pipeline(from, to, () => {}), incoming);
}

/** `undefined` for an unknown coding. Incomplete data is decoded as far as possible. */
function decoderOf(coding: string): Duplex | undefined {
  const { createGunzip, createInflate, createBrotliDecompress, constants } = process.getBuiltinModule("node:zlib");
  const { Z_SYNC_FLUSH: flush, BROTLI_OPERATION_FLUSH: brotliFlush } = constants;
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip({ flush, finishFlush: flush });
    case "deflate":
      return createInflate({ flush, finishFlush: flush });
    case "br":
      return createBrotliDecompress({ flush: brotliFlush, finishFlush: brotliFlush });
    default:
      return undefined;
  }
}
