import { invalidField } from "../../protocol/error.ts";
import type { ListPosition } from "../../protocol/operation.ts";
import { MAX_ID_LENGTH } from "./fields.ts";

/** Up to 3 bytes per code unit of the longest id, and 17 for the time and the colon; base64 turns 3 bytes into 4 characters. */
const MAX_TOKEN_LENGTH = Math.ceil(((3 * MAX_ID_LENGTH + 17) * 4) / 3);

/**
 * Encodes a list position as an opaque page token: `{ at: 1767225600000, id: "t1" }` becomes base64url of `1767225600000:t1`. The token
 * holds the last task of the page, not a number of tasks, so that new tasks do not shift the next page (A2A 1.0 §3.1.4).
 */
export function encodePageToken(position: ListPosition): string {
  const bytes = new TextEncoder().encode(`${position.at}:${position.id}`);
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Throws `invalid-params` if this server cannot have created the token. */
export function decodePageToken(token: string, path: string): ListPosition {
  // No base64 text has one character more than a multiple of 4.
  if (token.length <= MAX_TOKEN_LENGTH && token.length % 4 !== 1 && /^[A-Za-z0-9_-]+$/.test(token)) {
    const bytes = Uint8Array.from(atob(token.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const text = new TextDecoder().decode(bytes);
    const separator = text.indexOf(":");
    const at = text.slice(0, separator);
    const id = text.slice(separator + 1);
    if (/^(0|[1-9]\d{0,15})$/.test(at) && id !== "" && id.length <= MAX_ID_LENGTH) {
      const position = { at: Number(at), id };
      // Only a token that encodes to the same text was created here.
      if (encodePageToken(position) === token) return position;
    }
  }
  throw invalidToken(path);
}

/** For lists that are ordered by id: encodes the last id of the page. */
export function encodeIdToken(id: string): string {
  return encodePageToken({ at: 0, id });
}

/** Reverses `encodeIdToken`. Throws `invalid-params` for the token of a task list. */
export function decodeIdToken(token: string, path: string): string {
  const { at, id } = decodePageToken(token, path);
  if (at !== 0) throw invalidToken(path);
  return id;
}

function invalidToken(path: string): Error {
  return invalidField(path, "is not a page token of this server");
}
