import { A2AError } from "../../protocol/error.ts";
import type { ClientRequest } from "../../wire/client/client-codec.ts";
import type { DialectTraits } from "../../wire/client/client-registry.ts";

/** Throws `unsupported-operation` if the request depends on the task's generation and the dialect would leave that out. */
export function requireGenerations({ generations }: DialectTraits, request: ClientRequest): void {
  if (generations === true) return;
  const isConditional = "expectedSeq" in request && request.expectedSeq !== undefined;
  const isWaiting = "waitAfterSeq" in request && request.waitAfterSeq !== undefined;
  if (!isConditional && !isWaiting) return;
  const option = isConditional ? "ifGeneration" : "waitForChange";
  const text = `${option} needs a version that has generations. If the agent's card offers 1.1, connect with version "1.1".`;
  throw new A2AError("unsupported-operation", text);
}
