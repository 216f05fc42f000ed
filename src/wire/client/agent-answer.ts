import { A2AError } from "../../protocol/error.ts";

/** Runs a reader over what an agent answered: what it finds wrong is the agent's doing, not the caller's. */
export function readAnswer<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof A2AError) || thrown.code !== "invalid-params") throw thrown;
    const { message, violations } = thrown;
    throw new A2AError("invalid-agent-response", `The agent's answer cannot be read: ${message}`, { violations });
  }
}
