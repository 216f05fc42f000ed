/** The name under which the bench's agent is served; its tasks belong to it. */
export const AGENT_ID = "bench";
