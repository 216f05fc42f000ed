import type { Agent } from "../engine/agent/agent.ts";

/** The agent has declared that its tasks carry the states they have been in. */
export function showsTransitions({ capabilities }: Agent): boolean {
  return capabilities?.stateTransitionHistory === true;
}
