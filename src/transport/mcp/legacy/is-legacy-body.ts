import { isJsonObject } from "../../../protocol/json.ts";
import type { Exchange } from "../../exchange.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** Revisions are dates; the first without sessions. */
const FIRST_STATELESS = "2026-01-01";

/**
 * Whether a request is of the revisions up to 2025-11-25: neither its `_meta` nor its header names a later one. Everything else, valid or not, is answered by
 * the SDK.
 */
export function isLegacyBody(body: unknown, exchange: Exchange): boolean {
  const params = isJsonObject(body) ? body["params"] : undefined;
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  if (isJsonObject(meta) && meta[VERSION_KEY] !== undefined) return false;
  const header = exchange.header("mcp-protocol-version");
  return header === undefined || header < FIRST_STATELESS;
}
