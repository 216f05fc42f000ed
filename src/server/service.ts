import type { Agent } from "../engine/agent.ts";
import type { Engine } from "../engine/api.ts";
import type { AgentCard } from "../protocol/card.ts";
import { agentCard, extendedAgentCard } from "./card.ts";

/** One hosted agent with what its operations need. */
export interface Service {
  readonly agent: Agent;
  readonly engine: Engine;
  readonly card: AgentCard;
  /** What authenticated callers see. Absent: the agent declares none. */
  readonly extendedCard?: AgentCard;
}

export interface ServiceOptions {
  readonly agent: Agent;
  readonly engine: Engine;
  /** The absolute URL the agent is reached at. */
  readonly url: string;
}

export function createService({ agent, engine, url }: ServiceOptions): Service {
  const extendedCard = extendedAgentCard(agent, url);
  return { agent, engine, card: agentCard(agent, url), ...(extendedCard !== undefined && { extendedCard }) };
}
