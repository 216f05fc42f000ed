import type { Exchange } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";

/** The whole body of a request, at most `limit` bytes. Its memory counts for the caller's network address while it arrives. */
export function readRequestBody(
  { bodyMemory, remoteOf }: TransportEnvironment,
  exchange: Exchange,
  limit: number,
): Promise<Uint8Array> {
  return exchange.body(limit, (drop) => bodyMemory.reserve(remoteOf(exchange), drop));
}
