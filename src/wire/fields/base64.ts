import { invalidField } from "../../protocol/error.ts";

/** Text that is already in the form that is stored, as nearly all files are. */
const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 0x3d;

/** Maps each character code of either alphabet to the standard digit. 0: not a base64 digit. */
const STANDARD_DIGIT: Uint8Array = standardDigits();

/**
 * Normalises base64 in the standard or URL-safe alphabet, padded or not, to standard padded base64: `-_8` becomes `+/8=`. ProtoJSON readers
 * must accept all four forms. Throws `invalid-params` for other text. Works on bytes: `replaceAll` on the string takes 100 times as long if
 * it replaces every character.
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
  table[0x2d] = 0x2b; // "-" becomes "+"
  table[0x5f] = 0x2f; // "_" becomes "/"
  return table;
}
