import type { IncomingMessage } from "node:http";
import { A2AError } from "../../protocol/error.ts";
import { tooLarge } from "../body/body-error.ts";

/**
 * What a parser of the host left in `request.body`, as bytes again. Only to be asked where the request itself has nothing left
 * to read: some parsers leave an empty object there when they have read nothing.
 */
export function parsedBody(request: IncomingMessage, limit: number): Uint8Array {
  if (!hasBody(request)) return new Uint8Array();
  const body = "body" in request ? request.body : undefined;
  if (body === undefined) {
    throw new Error(
      "The body was read before and is not in request.body: mount this handler in front of what reads it.",
    );
  }
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : serialized(body));
  if (bytes.byteLength > limit) throw tooLarge(limit);
  return bytes;
}

/** Whether one was sent at all. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** What can be parsed may nest too deeply to be written again. */
function serialized(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    if (cause instanceof RangeError) throw new A2AError("parse-error", "The body nests too deeply", { cause });
    throw cause;
  }
}
