import type { AgentCard, SecurityScheme } from "../../protocol/card.ts";
import { cardObject as newerCardObject, type WireCard } from "../v0_3/card.ts";

/** The last edition of 0.2. Its cards are a superset of those of earlier editions. */
const EDITION = "0.2.6";

/** The card as JSON text. 0.2 has no signatures. */
export function encodeCard(card: AgentCard): string {
  return JSON.stringify(cardObject(card));
}

/** As in 0.3, without what 0.3 added: `mutualTLS`, `oauth2MetadataUrl` and `security` of skills. */
export function cardObject(card: AgentCard): WireCard {
  const { securitySchemes, skills, ...rest } = newerCardObject(card, "0.2");
  return {
    ...rest,
    protocolVersion: EDITION,
    ...(securitySchemes !== undefined && { securitySchemes: encodeSchemes(securitySchemes) }),
    skills: skills.map(({ security: _since0_3, ...skill }) => skill),
  };
}

/** Omits `mutualTLS` schemes. `security` may still name them. */
function encodeSchemes(schemes: Readonly<Record<string, SecurityScheme>>): Readonly<Record<string, SecurityScheme>> {
  const known = Object.entries(schemes).filter(([, scheme]) => scheme.type !== "mutualTLS");
  return Object.fromEntries(known.map(([name, scheme]) => [name, encodeScheme(scheme)]));
}

function encodeScheme(scheme: SecurityScheme): SecurityScheme {
  if (scheme.type !== "oauth2") return scheme;
  const { oauth2MetadataUrl: _since0_3, ...known } = scheme;
  return known;
}
