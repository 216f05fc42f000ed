import type { AgentCard } from "../protocol/card.ts";
import { encodeHybridCard } from "./card/hybrid-card.ts";
import { encodeUnionCard, type UnionParts } from "./card/union-card.ts";
import type { CardCodec } from "./codec.ts";
import type { RequestedVersion } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import { cardOf, type VersionRow } from "./registry.ts";

/** Chooses the shape of a card by what its reader says of its version, if it says anything. */
export type ChooseCard<C extends CardCodec | undefined = CardCodec> = (claim: RequestedVersion) => C;

/** The cards at the address that 0.3 gave them. Who speaks none of our versions must still be able to find that out. */
export function createCardCodecs(rows: readonly VersionRow[], { card }: DialectSettings): ChooseCard {
  const cards = cardsByVersion(rows);
  const [newest] = cards.values();
  if (newest === undefined) throw new TypeError("No version that is spoken has a card.");
  const isHybrid = card === "hybrid" && cards.has("1.0") && cards.has("0.3");
  const silent: CardCodec = isHybrid ? { variant: "hybrid", encodeCard: encodeHybridCard } : newest;
  return (claim) => (typeof claim === "string" ? silent : (cards.get(claim.named) ?? silent));
}

/**
 * The cards at the address they had before, where readers of 0.1 and of 0.2 look and some of 0.3 still do. Without an answer where
 * none of these is spoken.
 */
export function createLegacyCardCodecs(rows: readonly VersionRow[]): ChooseCard<CardCodec | undefined> {
  const cards = cardsByVersion(rows);
  const parts: UnionParts = { "0.3": cards.has("0.3"), "0.2": cards.has("0.2"), "0.1": cards.has("0.1") };
  if (!Object.values(parts).includes(true)) return () => undefined;
  const union: CardCodec = { variant: "union", encodeCard: (card: AgentCard) => encodeUnionCard(card, parts) };
  return (claim) => (typeof claim === "string" ? union : (cards.get(claim.named) ?? union));
}

function cardsByVersion(rows: readonly VersionRow[]): ReadonlyMap<string, CardCodec> {
  const cards = new Map<string, CardCodec>();
  for (const row of rows) {
    const card = cardOf(row);
    if (card !== undefined) cards.set(row.version, card);
  }
  return cards;
}
