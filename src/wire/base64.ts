import { invalidField } from "../protocol/error.ts";

const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;
const ANY_ALPHABET = /^([A-Za-z0-9+/_-]*)={0,2}$/;

/** Bytes in either base64 alphabet, padded or not, as standard padded base64. */
export function decodeBase64(text: string, path: string): string {
  if (text.length % 4 === 0 && STANDARD.test(text)) return text;
  const digits = ANY_ALPHABET.exec(text)?.[1];
  if (digits === undefined || digits.length % 4 === 1) throw invalidField(path, "must be base64");
  const standard = digits.replaceAll("-", "+").replaceAll("_", "/");
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, "=");
}
