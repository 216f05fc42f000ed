import { isAscii, isUtf8 } from "node:buffer";
import { A2AError } from "../../protocol/error.ts";
import type { Exchange } from "../exchange.ts";
import { nestsDeeper } from "./json-nesting.ts";

/** The most levels of nesting of a body over 64 KB. Individual fields allow fewer. */
const MAX_NESTING = 1000;

/** Throws unless the body is declared as uncompressed JSON. This also forces browsers to send a preflight for cross-origin requests. */
export function requireJson(exchange: Exchange): void {
  if (!isJson(exchange.header("content-type"))) {
    throw new A2AError("unsupported-media-type", "Send the request as application/json");
  }
  const encoding = exchange.header("content-encoding");
  // A compressed body may expand a thousandfold.
  if (encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity") return;
  throw new A2AError("unsupported-media-type", "Send the request without a content encoding");
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return (
    contentType !== undefined && /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i.test(contentType)
  );
}

export function parseJson(bytes: Uint8Array): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Most bodies are ASCII and need no decoding.
  const isPlain = isAscii(buffer);
  if (!isPlain && !isUtf8(buffer)) throw new A2AError("parse-error", "The body is not valid UTF-8");
  if (nestsDeeper(buffer, MAX_NESTING)) {
    throw new A2AError("parse-error", `The body has more than ${MAX_NESTING} levels of nesting`);
  }
  const text = isPlain ? buffer.toString("latin1") : buffer.toString();
  try {
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch (cause) {
    throw new A2AError("parse-error", "The body is not valid JSON", { cause });
  }
}
