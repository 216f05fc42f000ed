/** The id of the bench's agent, which owns all tasks of the bench. */
export const AGENT_ID = "bench";
