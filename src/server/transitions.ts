import type { Agent } from "../engine/agent/agent.ts";

/** True if the agent declares that its tasks carry their earlier states (`stateTransitionHistory` of A2A 0.3). */
export function showsTransitions({ capabilities }: Agent): boolean {
  return capabilities?.stateTransitionHistory === true;
}
