import type { AgentCard } from "../../protocol/card.ts";
import { authenticationOf } from "../v0_1/authentication.ts";
import { cardObject as cardObject0_1 } from "../v0_1/card.ts";
import { cardObject as cardObject0_2 } from "../v0_2/card.ts";
import { cardObject as cardObject0_3 } from "../v0_3/card.ts";

/** Which versions' readers are to understand the card. */
export type UnionParts = Readonly<Record<"0.3" | "0.2" | "0.1", boolean>>;

/**
 * A card for readers of 0.1, 0.2 and 0.3, each of which ignores what the others define: that of the newest, which holds all
 * that the others want but how 0.1 says how to authenticate. Its address takes the methods of all of them.
 */
export function encodeUnionCard(card: AgentCard, parts: UnionParts): string {
  if (!parts["0.3"] && !parts["0.2"]) return JSON.stringify(cardObject0_1(card));
  const newer = parts["0.3"] ? cardObject0_3(card) : cardObject0_2(card);
  const authentication = parts["0.1"] ? authenticationOf(card) : undefined;
  return JSON.stringify({ ...newer, ...(authentication !== undefined && { authentication }) });
}
