import type { AgentInterface } from "../../protocol/card.ts";

/** What cards call this dialect. A name of our own: it is none of the bindings the protocol defines. */
export const PLAIN_BINDING = "urn:palaver:binding:plain";

/**
 * The dialect's own edition. It belongs to no version of the protocol, but cards want a `Major.Minor` beside every binding;
 * this one keeps it out of the cards of 0.x, which have no place for bindings of one's own.
 */
export const PLAIN_VERSION = "1.0";

/**
 * A request header by which a call that names no agent is refused with 404 where no agent declares a `defaultProjectId`, whatever the
 * server's `requireDefaultProject` says. Its value is not read.
 */
export const REQUIRE_DEFAULT_PROJECT = "palaver-require-default-project";

/** The dialect at an agent whose URLs begin with `base`: what its paths are put behind. */
export function plainInterface(base: string): AgentInterface {
  return { url: base, binding: PLAIN_BINDING, protocolVersion: PLAIN_VERSION };
}
