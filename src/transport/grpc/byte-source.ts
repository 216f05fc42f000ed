import type { ByteString } from "../../wire/byte-string.ts";
import type { PullSource } from "../exchange.ts";

/** A source whose pieces are slices of byte strings. */
export function byteSource(source: PullSource<string>): PullSource<ByteString> {
  // Safe: a slice of a byte string is one.
  return source as PullSource<ByteString>;
}
