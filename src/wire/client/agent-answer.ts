import { A2AError } from "../../protocol/error.ts";

/** Decodes an agent's answer. Turns `invalid-params` into `invalid-agent-response`, because the agent caused it, not the caller. */
export function readAnswer<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof A2AError) || thrown.code !== "invalid-params") throw thrown;
    const { message, violations } = thrown;
    throw new A2AError("invalid-agent-response", `The agent's answer is invalid: ${message}`, { violations });
  }
}
