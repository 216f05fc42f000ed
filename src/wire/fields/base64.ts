import { invalidField } from "../../protocol/error.ts";

const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 0x3d;

/** By character code: the digit of the standard alphabet that it stands for, or 0 where it is no digit of either alphabet. */
const STANDARD_DIGIT: Uint8Array = standardDigits();

/**
 * Reads bytes in either base64 alphabet, padded or not, and returns them as standard padded base64. Throws `invalid-params` for other text.
 * One pass over the bytes of the text: replacing characters of a string takes 100 times as long where every one of them is replaced.
 */
export function decodeBase64(text: string, path: string): string {
  if (text.length % 4 === 0 && STANDARD.test(text)) return text;
  const bytes = new TextEncoder().encode(text);
  let length = bytes.length;
  for (let padding = 0; padding < 2 && bytes[length - 1] === PADDING; padding++) length--;
  if (length % 4 === 1) throw invalidField(path, "must be base64");
  for (let at = 0; at < length; at++) {
    const digit = STANDARD_DIGIT[bytes[at] ?? 0] ?? 0;
    if (digit === 0) throw invalidField(path, "must be base64");
    bytes[at] = digit;
  }
  const standard = new TextDecoder().decode(bytes.subarray(0, length));
  return length % 4 === 0 ? standard : `${standard}${"=".repeat(4 - (length % 4))}`;
}

function standardDigits(): Uint8Array {
  const table = new Uint8Array(256);
  for (const code of new TextEncoder().encode(DIGITS)) table[code] = code;
  table[0x2d] = 0x2b; // - is +
  table[0x5f] = 0x2f; // _ is /
  return table;
}
