import type { AgentCard } from "../protocol/card.ts";
import { encodeHybridCard } from "./card/hybrid-card.ts";
import { encodeUnionCard, type UnionParts } from "./card/union-card.ts";
import type { CardCodec } from "./codec.ts";
import type { RequestedVersion } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import { cardOf, type VersionRow } from "./registry.ts";

/** Chooses the format of an agent card by the version that its reader requests. */
export type ChooseCard<C extends CardCodec | undefined = CardCodec> = (requested: RequestedVersion) => C;

/**
 * For `/.well-known/agent-card.json`, the address since 0.3. A reader that requests no version, or an unsupported one, gets the hybrid or
 * the newest card, so that it can find out which versions the server supports. Throws a `TypeError` if no supported version has a card.
 */
export function createCardCodecs(rows: readonly VersionRow[], { card }: DialectSettings): ChooseCard {
  const cards = cardsByVersion(rows);
  const [newest] = cards.values();
  if (newest === undefined) throw new TypeError("None of the supported versions has an agent card.");
  const isHybrid = card === "hybrid" && cards.has("1.0") && cards.has("0.3");
  const fallback: CardCodec = isHybrid ? { variant: "hybrid", encodeCard: encodeHybridCard } : newest;
  return (requested) => (typeof requested === "string" ? fallback : (cards.get(requested.version) ?? fallback));
}

/**
 * For `/.well-known/agent.json`, the address before 0.3, which some readers of 0.3 still use. Returns `undefined` for every reader if the
 * server supports none of 0.1, 0.2 and 0.3.
 */
export function createLegacyCardCodecs(rows: readonly VersionRow[]): ChooseCard<CardCodec | undefined> {
  const cards = cardsByVersion(rows);
  const parts: UnionParts = { "0.3": cards.has("0.3"), "0.2": cards.has("0.2"), "0.1": cards.has("0.1") };
  if (!Object.values(parts).includes(true)) return () => undefined;
  const union: CardCodec = { variant: "union", encodeCard: (card: AgentCard) => encodeUnionCard(card, parts) };
  return (requested) => (typeof requested === "string" ? union : (cards.get(requested.version) ?? union));
}

/** In the order of `rows`: the first entry is the newest version. */
function cardsByVersion(rows: readonly VersionRow[]): ReadonlyMap<string, CardCodec> {
  const cards = new Map<string, CardCodec>();
  for (const row of rows) {
    const card = cardOf(row);
    if (card !== undefined) cards.set(row.version, card);
  }
  return cards;
}
