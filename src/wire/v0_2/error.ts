import type { A2AError } from "../../protocol/error.ts";
import { ERROR_TABLE } from "../error-table.ts";
import { type ErrorNumbers, encodeNumbered, CODES as NEWER } from "../v0_3/error.ts";

/** Errors that later versions added, with the closest code of 0.2. */
const CODES: ErrorNumbers = { ...NEWER, "extended-card-not-configured": ERROR_TABLE["unsupported-operation"].rpc };

/** The `error` member of a JSON-RPC response. */
export function encodeError(error: A2AError): string {
  return encodeNumbered(error, CODES);
}
