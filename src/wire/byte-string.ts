/**
 * Bytes as a string: each character has the code of one byte, 0 to 255. Short-lived messages are strings, because the memory of a `Buffer` lies
 * outside of the heap and is returned late.
 */
export type ByteString = string & { readonly isByteString: true };

export function byteStringOf(bytes: Uint8Array): ByteString {
  // Safe: latin1 has one character for each byte.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1") as ByteString;
}

export function bytesOf(text: ByteString): Uint8Array<ArrayBuffer> {
  return Buffer.from(text, "latin1");
}
