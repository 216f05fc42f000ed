import type { Agent } from "../engine/agent/agent.ts";

/** Whether the agent's card promises the state history of a task (`capabilities.stateTransitionHistory`). */
export function showsStateHistory({ capabilities }: Agent): boolean {
  return capabilities?.stateTransitionHistory === true;
}
