import { promisify } from "node:util";
import { gunzip as gunzipCallback, gzipSync } from "node:zlib";
import { A2AError } from "../../protocol/error.ts";
import { type ByteString, byteStringOf, bytesOf } from "../../wire/byte-string.ts";
import { frame, lengthOf, PREFIX_BYTES } from "../../wire/grpc-frame.ts";
import type { BodyCheck } from "../exchange.ts";

const gunzip = promisify(gunzipCallback);

/** A shorter message would not become smaller. */
const MIN_COMPRESSED = 512;

/** A message with its prefix. `compress`: with gzip, if that makes sense. */
export function frameOf(message: ByteString, compress: boolean): ByteString {
  if (compress && message.length >= MIN_COMPRESSED) return byteStringOf(frame(gzipSync(bytesOf(message)), true));
  const { length } = message;
  // Safe: the prefix and the message have one character for each byte.
  return (String.fromCharCode(0, length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255) +
    message) as ByteString;
}

/** Refuses a message by its prefix: one that is longer than `limit` never arrives in memory. */
export function prefixCheck(limit: number, encoding: string | undefined): BodyCheck {
  return {
    bytes: PREFIX_BYTES,
    accept: (start) => {
      const flag = start[0] ?? 0;
      if (flag > 1) throw malformed(`The compression flag must be 0 or 1, not ${flag}`);
      if (flag === 1 && (encoding === undefined || encoding === "identity"))
        throw malformed("The message is compressed, but grpc-encoding does not say how");
      if (lengthOf(start) > limit) throw tooLong(limit);
    },
  };
}

export interface UnframeOptions {
  /** The most bytes of a message, also after decompression. */
  readonly limit: number;
  readonly encoding: string | undefined;
}

/** The only message of a body. */
export async function unframe(body: Uint8Array, { limit, encoding }: UnframeOptions): Promise<Uint8Array> {
  if (body.byteLength === 0) throw malformed("The call has no message");
  if (body.byteLength < PREFIX_BYTES) throw malformed("The body ends within the prefix of the message");
  prefixCheck(limit, encoding).accept(body);
  const length = lengthOf(body);
  const rest = body.byteLength - PREFIX_BYTES;
  if (rest < length) throw malformed("The body ends within the message");
  if (rest > length) throw malformed("The call has more than one message");
  const message = body.subarray(PREFIX_BYTES);
  return body[0] === 1 ? decompressed(message, limit) : message;
}

async function decompressed(message: Uint8Array, limit: number): Promise<Uint8Array> {
  try {
    return await gunzip(message, { maxOutputLength: limit });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLong(limit);
    throw malformed("The message is not valid gzip", cause);
  }
}

function malformed(message: string, cause?: unknown): A2AError {
  return new A2AError("invalid-request", message, { cause });
}

function tooLong(limit: number): A2AError {
  return new A2AError("payload-too-large", `The message must not be larger than ${limit} bytes`);
}
