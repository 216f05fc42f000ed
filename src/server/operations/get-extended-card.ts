import { A2AError } from "../../protocol/error.ts";
import type { OperationResult } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import { extendedAgentCard } from "../card.ts";
import { cardContext, type Service } from "../service.ts";

/** The extended card for authenticated callers (A2A 1.0 §3.1.11). */
export async function getExtendedCard(service: Service, call: Call): Promise<OperationResult> {
  const { agent, interfaces, security } = service;
  const { policy, principal } = call;
  if (agent.extendedCard === undefined)
    throw new A2AError(policy.undeclaredExtendedCard, "This agent has no extended card");
  if (principal.anonymous) {
    throw new A2AError("unauthenticated", "The extended card is for authenticated callers", {
      challenges: security?.challenges() ?? [],
    });
  }
  const card = await extendedAgentCard(agent, interfaces, { ...cardContext(service), caller: principal });
  if (card === undefined) {
    const code = policy.deniedExtendedCard ?? "extended-card-not-configured";
    throw new A2AError(code, "This agent has no extended card for this caller");
  }
  return { kind: "card", card };
}
