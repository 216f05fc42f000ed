import type { AgentCard, SecurityRequirement, SecurityScheme } from "../../protocol/card.ts";
import { cardObject } from "../v0_3/card.ts";
import { encodeRequirement, encodeScheme, type WireScheme } from "../v1_0/security.ts";

/**
 * Encodes a card in proto style: as in JSON style, but security schemes and requirements have the format of the proto definition, which is
 * also that of 1.0.
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

/** The requirements of a skill; an empty object if it has none of its own. */
function encodeOwnSecurity(security: readonly SecurityRequirement[] | undefined): object {
  return security === undefined ? {} : { security: security.map(encodeRequirement) };
}

/**
 * Omits an OAuth scheme if 0.3 knows none of its flows, because readers reject a card that has an OAuth scheme without flows. Security
 * requirements may still name the omitted scheme.
 */
function encodeSchemes(schemes: Readonly<Record<string, SecurityScheme>>): Readonly<Record<string, WireScheme>> {
  const known = Object.entries(schemes).filter(
    ([, scheme]) => scheme.type !== "oauth2" || Object.keys(scheme.flows).length > 0,
  );
  return Object.fromEntries(known.map(([name, scheme]) => [name, encodeScheme(scheme)]));
}
