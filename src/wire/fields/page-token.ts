import { invalidField } from "../../protocol/error.ts";
import type { ListPosition } from "../../protocol/operation.ts";
import { MAX_ID_LENGTH } from "./fields.ts";

/** Three bytes for each unit of the longest id, and the number before it; base64 makes four of three. */
const MAX_TOKEN_LENGTH = Math.ceil(((3 * MAX_ID_LENGTH + 17) * 4) / 3);

/** A place in a list, as the opaque text callers hand back to go on from there. */
export function encodePageToken(position: ListPosition): string {
  return Buffer.from(`${position.at}:${position.id}`).toString("base64url");
}

export function decodePageToken(token: string, path: string): ListPosition {
  if (token.length <= MAX_TOKEN_LENGTH && /^[A-Za-z0-9_-]+$/.test(token)) {
    const text = Buffer.from(token, "base64url").toString();
    const separator = text.indexOf(":");
    const at = text.slice(0, separator);
    const id = text.slice(separator + 1);
    if (/^(0|[1-9]\d{0,15})$/.test(at) && id !== "" && id.length <= MAX_ID_LENGTH) {
      const position = { at: Number(at), id };
      // Anything that does not come back the same was not made here.
      if (encodePageToken(position) === token) return position;
    }
  }
  throw invalidToken(path);
}

/** The same for lists whose order no time tells, by the id of the last on the page. */
export function encodeIdToken(id: string): string {
  return encodePageToken({ at: 0, id });
}

export function decodeIdToken(token: string, path: string): string {
  const { at, id } = decodePageToken(token, path);
  if (at !== 0) throw invalidToken(path);
  return id;
}

function invalidToken(path: string): Error {
  return invalidField(path, "is not a token from an earlier page");
}
