import type { AgentCard } from "../../protocol/card.ts";
import { authenticationOf } from "../v0_1/authentication.ts";
import { cardObject as cardObject0_1 } from "../v0_1/card.ts";
import { cardObject as cardObject0_2 } from "../v0_2/card.ts";
import { cardObject as cardObject0_3 } from "../v0_3/card.ts";

/** The versions whose clients must be able to read the card. */
export type UnionParts = Readonly<Record<"0.3" | "0.2" | "0.1", boolean>>;

/**
 * Encodes a card for clients of 0.1, 0.2 and 0.3, which ignore each other's members: the card of the newest version, which has all members
 * of the others except `authentication` of 0.1 (A2A 0.1 §5.5.3). Its URL accepts the methods of all three versions.
 */
export function encodeUnionCard(card: AgentCard, parts: UnionParts): string {
  if (!parts["0.3"] && !parts["0.2"]) return JSON.stringify(cardObject0_1(card));
  const newer = parts["0.3"] ? cardObject0_3(card) : cardObject0_2(card);
  const authentication = parts["0.1"] ? authenticationOf(card) : undefined;
  return JSON.stringify({ ...newer, ...(authentication !== undefined && { authentication }) });
}
