import type { AgentCard, SecurityRequirement, SecurityScheme } from "../../protocol/card.ts";
import { cardObject } from "../v0_3/card.ts";
import { encodeRequirement, encodeScheme, type WireScheme } from "../v1_0/security.ts";

/**
 * The card as this style spells it: the version's own members, but security in the spelling of the definition, which the next
 * version took over.
 */
export function encodeCard(card: AgentCard): string {
  const { capabilities, securitySchemes, security, skills, ...rest } = cardObject(card);
  const { stateTransitionHistory: _unknownHere, ...known } = capabilities;
  return JSON.stringify({
    ...rest,
    capabilities: known,
    ...(securitySchemes !== undefined && { securitySchemes: encodeSchemes(securitySchemes) }),
    ...(security !== undefined && { security: security.map(encodeRequirement) }),
    skills: skills.map((skill) => ({ ...skill, ...encodeOwnSecurity(skill.security) })),
  });
}

function encodeOwnSecurity(security: readonly SecurityRequirement[] | undefined): object {
  return security === undefined ? {} : { security: security.map(encodeRequirement) };
}

/**
 * A scheme of flows that are not known here is left out, for readers refuse a whole card with an OAuth scheme that has none.
 * Requirements still name it.
 */
function encodeSchemes(schemes: Readonly<Record<string, SecurityScheme>>): Readonly<Record<string, WireScheme>> {
  const known = Object.entries(schemes).filter(
    ([, scheme]) => scheme.type !== "oauth2" || Object.keys(scheme.flows).length > 0,
  );
  return Object.fromEntries(known.map(([name, scheme]) => [name, encodeScheme(scheme)]));
}
