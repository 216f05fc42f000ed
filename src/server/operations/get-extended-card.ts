import { A2AError } from "../../protocol/error.ts";
import type { OperationResult } from "../../protocol/operation.ts";
import type { Call } from "../call.ts";
import type { Service } from "../service.ts";

/** The card for callers who have said who they are. */
export function getExtendedCard({ extendedCard }: Service, call: Call): OperationResult {
  if (extendedCard === undefined) throw new A2AError("unsupported-operation", "This agent has no extended card");
  if (call.principal.anonymous) throw new A2AError("unauthenticated", "The extended card is for authenticated callers");
  return { kind: "card", card: extendedCard };
}
