import type { AgentCard, SecurityScheme } from "../../protocol/card.ts";
import { cardObject as newerCardObject, type WireCard } from "../v0_3/card.ts";

/** The last edition of this version. Its cards say more than those of the editions before, and nothing otherwise. */
const EDITION = "0.2.6";

export function encodeCard(card: AgentCard): string {
  return JSON.stringify(cardObject(card));
}

/** As in the next version, but for what came with that: certificates, where to find out about OAuth, what a skill requires. */
export function cardObject(card: AgentCard): WireCard {
  const { securitySchemes, skills, ...rest } = newerCardObject(card, "0.2");
  return {
    ...rest,
    protocolVersion: EDITION,
    ...(securitySchemes !== undefined && { securitySchemes: encodeSchemes(securitySchemes) }),
    skills: skills.map(({ security: _later, ...skill }) => skill),
  };
}

/** Requirements still name a scheme that is left out. */
function encodeSchemes(schemes: Readonly<Record<string, SecurityScheme>>): Readonly<Record<string, SecurityScheme>> {
  const known = Object.entries(schemes).filter(([, scheme]) => scheme.type !== "mutualTLS");
  return Object.fromEntries(known.map(([name, scheme]) => [name, encodeScheme(scheme)]));
}

function encodeScheme(scheme: SecurityScheme): SecurityScheme {
  if (scheme.type !== "oauth2") return scheme;
  const { oauth2MetadataUrl: _later, ...known } = scheme;
  return known;
}
