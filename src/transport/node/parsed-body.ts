import type { IncomingMessage } from "node:http";
import { A2AError } from "../../protocol/error.ts";
import { tooLarge } from "../body/body-error.ts";

/**
 * The result of the host's body parser in `request.body`, serialized again. Call it only if the request has no unread data: some parsers set
 * an empty object although they have read nothing.
 */
export function parsedBody(request: IncomingMessage, limit: number): Uint8Array {
  if (!hasBody(request)) return new Uint8Array();
  const body = "body" in request ? request.body : undefined;
  if (body === undefined) {
    throw new Error(
      "The body was already read and is not in request.body: mount this handler before the middleware that reads it.",
    );
  }
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : serialized(body));
  if (bytes.byteLength > limit) throw tooLarge(limit);
  return bytes;
}

/** True if the request has a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Serializes the parsed body. Deeply nested values can be parsed but not serialized. */
function serialized(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new A2AError("parse-error", "The body has too many levels of nesting", { cause });
    throw cause;
  }
}
