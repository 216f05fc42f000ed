import type { Dialects } from "../../wire/dialects.ts";
import { ERROR_TABLE } from "../../wire/error-table.ts";
import { jsonReply } from "../exchange.ts";
import type { Refuse } from "../router.ts";
import { requestedVersion } from "../service-parameters.ts";
import { UNIDENTIFIED } from "./envelope.ts";

/** Writes an error at a JSON-RPC path for a request that never becomes a call, such as one with the wrong HTTP method. */
export function rpcRefusal(dialects: Dialects): Refuse {
  return (exchange, error) => {
    const codec = dialects.fallbackRpc(requestedVersion(exchange));
    return jsonReply(codec.statusOf(error), UNIDENTIFIED.error(codec.encodeError(error)));
  };
}

/** As {@link rpcRefusal}, at paths outside JSON-RPC: their callers go by the HTTP status. */
export function strayRefusal(dialects: Dialects): Refuse {
  const refuse = rpcRefusal(dialects);
  return (exchange, error) => ({ ...refuse(exchange, error), status: ERROR_TABLE[error.code].http });
}
