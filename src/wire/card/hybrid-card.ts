import type { AgentCard } from "../../protocol/card.ts";
import { cardObject as cardObject0_3 } from "../v0_3/card.ts";
import { cardObject as cardObject1_0 } from "../v1_0/card.ts";

/**
 * Encodes a card for readers of 0.3 and of 1.0, which ignore each other's members: the members of both versions side by side, also within
 * `capabilities`, `securitySchemes` and `skills`.
 * `{ url, preferredTransport, …, supportedInterfaces, securitySchemes: { key: { type: "apiKey", …, apiKeySecurityScheme: {…} } } }`
 */
export function encodeHybridCard(card: AgentCard): string {
  const older = cardObject0_3(card);
  const newer = cardObject1_0(card);
  const schemes = Object.keys(newer.securitySchemes ?? {});
  return JSON.stringify({
    ...older,
    ...newer,
    capabilities: { ...older.capabilities, ...newer.capabilities },
    ...(newer.securitySchemes !== undefined && {
      securitySchemes: Object.fromEntries(
        schemes.map((name) => [name, { ...older.securitySchemes?.[name], ...newer.securitySchemes?.[name] }]),
      ),
    }),
    skills: newer.skills.map((skill, index) => ({ ...older.skills[index], ...skill })),
  });
}
