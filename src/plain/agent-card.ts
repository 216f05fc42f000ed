import type { Agent } from "../engine/agent/agent.ts";
import { withoutTrailing } from "../internal/without-trailing.ts";
import type { AgentCapabilities, AgentSkill } from "../protocol/card.ts";
import { PLAIN_BINDING } from "../wire/plain/binding.ts";
import { askServer } from "./ask-server.ts";
import { knownServer, rememberServer } from "./known-servers.ts";
import type { A2AServerDeps } from "./types.ts";

/** A skill in an agent card. */
export type A2AAgentSkill = Omit<AgentSkill, "security">;

/** The agent card that the server sends to requests without a version. It has more members than these. */
export interface A2AAgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** URL for clients of 0.x. Absent if the server shows only cards of 1.0. */
  readonly url?: string;
  /** All endpoints in the form of 0.3. */
  readonly additionalInterfaces?: readonly { readonly url: string; readonly transport: string }[];
  /** All endpoints in the form of 1.0. */
  readonly supportedInterfaces?: readonly A2AAgentInterface[];
  readonly capabilities: AgentCapabilities;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly A2AAgentSkill[];
}

interface A2AAgentInterface {
  readonly url: string;
  readonly protocolBinding: string;
  readonly protocolVersion: string;
}

/**
 * Reads the card of the server's first agent, which is served at the server's root. `baseUrl` replaces the server's own URL in the card. Without `deps`,
 * the server that was last passed to one of these functions is used; throws a `TypeError` if there is none.
 */
export function buildAgentCard(baseUrl?: string, deps?: A2AServerDeps): Promise<A2AAgentCard> {
  return cardOf(undefined, baseUrl, deps);
}

/** Reads the card of one of the server's agents, as served at `/agents/{id}`. Rejects with a `NotFoundError` if the agent is not served. */
export function buildAgentCardForAgent(
  agent: Pick<Agent, "id">,
  baseUrl?: string,
  deps?: A2AServerDeps,
): Promise<A2AAgentCard> {
  return cardOf(agent.id, baseUrl, deps);
}

/** Asks the server itself, so that the card is the one that callers get. */
async function cardOf(
  agentId: string | undefined,
  baseUrl: string | undefined,
  deps: A2AServerDeps = knownServer(),
): Promise<A2AAgentCard> {
  rememberServer(deps);
  // Safe: a response of this package's own server.
  const card = (await askServer({ ...deps, agentId }, "/.well-known/agent-card.json")) as A2AAgentCard;
  if (baseUrl === undefined) return card;
  const base = withoutTrailing(baseUrl, "/");
  return moved(card, agentId === undefined ? base : `${base}/agents/${agentId}`);
}

/** The same card with other URLs. */
function moved(card: A2AAgentCard, base: string): A2AAgentCard {
  const from = baseOf(card);
  const move = <T extends { readonly url?: string }>(holder: T): T => {
    const { url } = holder;
    return url?.startsWith(from) === true ? { ...holder, url: base + url.slice(from.length) } : holder;
  };
  const { additionalInterfaces, supportedInterfaces } = card;
  return {
    ...move(card),
    ...(additionalInterfaces !== undefined && { additionalInterfaces: additionalInterfaces.map(move) }),
    ...(supportedInterfaces !== undefined && { supportedInterfaces: supportedInterfaces.map(move) }),
  };
}

/**
 * The common start of all URLs in a card. REST and plain URLs are exactly this; the JSON-RPC URL of 0.x has one more path segment.
 */
function baseOf({ url = "", supportedInterfaces = [], additionalInterfaces = [] }: A2AAgentCard): string {
  const newer = supportedInterfaces.find(({ protocolBinding }) => BARE_BINDINGS.includes(protocolBinding));
  const older = additionalInterfaces.find(({ transport }) => BARE_BINDINGS.includes(transport));
  return newer?.url ?? older?.url ?? url.replace(/\/(?:a2a)?$/, "");
}

const BARE_BINDINGS: readonly string[] = [PLAIN_BINDING, "HTTP+JSON"];
