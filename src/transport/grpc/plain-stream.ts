import { ANONYMOUS } from "../../protocol/principal.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange, PullSource } from "../exchange.ts";
import { callerKey } from "../rate-limit/request-limits.ts";
import type { OpenStream } from "../streams/stream-registry.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The answers of a call to a service besides A2A. */
export interface PlainSource extends PullSource<Bytes> {
  /** Called when the server shuts down. Sends the last answer and ends the call. */
  shutdown(): void;
}

/**
 * Counts a call with several answers for the limits of streams, and ends it when the server shuts down. Throws `resource-exhausted` at a
 * limit, and `unavailable` while the server shuts down.
 */
export function openPlainStream(endpoint: Endpoint, exchange: Exchange, source: PlainSource): PullSource<Bytes> {
  const { streams, environment } = endpoint;
  const place = streams.admit(callerKey(ANONYMOUS, environment.remoteOf(exchange)));
  // Pings keep the connection alive.
  const open: OpenStream = { heartbeat() {}, shutdown: () => source.shutdown() };
  streams.add(open);
  return {
    pull: () => source.pull(),
    cancel() {
      streams.remove(open);
      place.release();
      source.cancel();
    },
  };
}
