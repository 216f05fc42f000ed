import type { Agent } from "../engine/agent/agent.ts";
import type { AgentCapabilities, AgentSkill } from "../protocol/card.ts";
import { PLAIN_BINDING } from "../wire/plain/binding.ts";
import { askServer } from "./ask-server.ts";
import { knownServer, rememberServer } from "./known-servers.ts";
import type { A2ATaskDeps } from "./types.ts";

export type A2AAgentSkill = Omit<AgentSkill, "security">;

/** An agent's card as the server shows it to readers that name no version. It holds more than is listed here. */
export interface A2AAgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Where clients of 0.x reach the agent. Absent where the server shows cards of 1.0 alone. */
  readonly url?: string;
  readonly additionalInterfaces?: readonly { readonly url: string; readonly transport: string }[];
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
 * The card of the server's first agent, which is served at its root. With `baseUrl`, its addresses are below that instead of the
 * server's own. Without `deps`, of the server that these functions were last given.
 */
export function buildAgentCard(baseUrl?: string, deps?: A2ATaskDeps): Promise<A2AAgentCard> {
  return cardOf(undefined, baseUrl, deps);
}

/** The card of one of the server's agents, as it is served below `/agents/{id}`. Rejects with a `NotFoundError` if it is not served. */
export function buildAgentCardForAgent(
  agent: Pick<Agent, "id">,
  baseUrl?: string,
  deps?: A2ATaskDeps,
): Promise<A2AAgentCard> {
  return cardOf(agent.id, baseUrl, deps);
}

async function cardOf(
  agentId: string | undefined,
  baseUrl: string | undefined,
  deps: A2ATaskDeps = knownServer(),
): Promise<A2AAgentCard> {
  rememberServer(deps);
  // Safe: an answer of this package's own server.
  const card = (await askServer({ ...deps, agentId }, "/.well-known/agent-card.json")) as A2AAgentCard;
  if (baseUrl === undefined) return card;
  const base = baseUrl.replace(/\/+$/, "");
  return moved(card, agentId === undefined ? base : `${base}/agents/${agentId}`);
}

/** The card of the same agent at another address. */
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
 * What all addresses of a card begin with. Those of REST, and of the plain dialect, are just that; the one of JSON-RPC in 0.x has
 * a segment more.
 */
function baseOf({ url = "", supportedInterfaces = [], additionalInterfaces = [] }: A2AAgentCard): string {
  const newer = supportedInterfaces.find(({ protocolBinding }) => BARE_BINDINGS.includes(protocolBinding));
  const older = additionalInterfaces.find(({ transport }) => BARE_BINDINGS.includes(transport));
  return newer?.url ?? older?.url ?? url.replace(/\/(?:a2a)?$/, "");
}

const BARE_BINDINGS: readonly string[] = [PLAIN_BINDING, "HTTP+JSON"];
