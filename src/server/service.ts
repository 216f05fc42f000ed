import type { Agent } from "../engine/agent.ts";
import type { Engine } from "../engine/api.ts";
import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import { agentCard } from "./card.ts";

export interface ServiceOptions {
  readonly agent: Agent;
  readonly engine: Engine;
  /** Where the agent is reached, preferred first. */
  readonly interfaces: readonly AgentInterface[];
  /** What there is not, so that nobody can be asked here: every call is told that it was not found. */
  readonly missing?: string | undefined;
}

/** One hosted agent with what its operations need. */
export interface Service extends ServiceOptions {
  /** What everybody sees. */
  readonly card: AgentCard;
}

export function createService({ agent, engine, interfaces, missing }: ServiceOptions): Service {
  return { agent, engine, interfaces, missing, card: agentCard(agent, interfaces) };
}
