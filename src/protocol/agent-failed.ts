/** The status text of a task whose agent threw an unexpected error. The error itself is only logged. */
export const AGENT_FAILED = "The agent failed while working on this task.";
