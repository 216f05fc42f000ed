// How agent cards announce the plain dialect. It is no binding of A2A: two routes with text only, for callers without an A2A library.

import type { AgentInterface } from "../../protocol/card.ts";

/** The `protocolBinding` of the plain dialect in agent cards: a custom binding (A2A 1.0 §5.8). */
export const PLAIN_BINDING = "urn:palaver:binding:plain";

/**
 * The `protocolVersion` of the plain dialect in agent cards, which require a `Major.Minor` for every binding. `1.0` keeps the interface out
 * of the cards of 0.x, which cannot list custom bindings.
 */
export const PLAIN_VERSION = "1.0";

/** The plain interface of the agent whose URL is `base`. */
export function plainInterface(base: string): AgentInterface {
  return { url: base, binding: PLAIN_BINDING, protocolVersion: PLAIN_VERSION };
}
