import type { AgentCard } from "../../protocol/card.ts";

export function encodeCard(card: AgentCard): string {
  const { interfaces, ...shared } = card;
  return JSON.stringify({
    ...shared,
    supportedInterfaces: interfaces.map(({ binding, ...rest }) => ({ ...rest, protocolBinding: binding })),
  });
}
