import * as base64url from "jose/base64url";

const encoder = new TextEncoder();

/** Of the text in UTF-8. For secrets with enough random bits only; passwords need `hashPassword`. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

/** Compares in constant time. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  return difference === 0;
}

/** Decodes base64url; `undefined` for invalid text. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  try {
    return base64url.decode(text);
  } catch {
    // Not an error here: callers treat it as a value that does not match.
    return undefined;
  }
}
