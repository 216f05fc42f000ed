import type { OAuthFlow, OAuthFlowName, SecurityScheme } from "../../protocol/card.ts";

type FlowMember = Exclude<keyof OAuthFlow, "scopes" | "pkceRequired">;

/** What this version knows of each flow. It has none for devices. */
const FLOWS: readonly (readonly [OAuthFlowName, readonly FlowMember[]])[] = [
  ["authorizationCode", ["authorizationUrl", "tokenUrl", "refreshUrl"]],
  ["clientCredentials", ["tokenUrl", "refreshUrl"]],
  ["implicit", ["authorizationUrl", "refreshUrl"]],
  ["password", ["tokenUrl", "refreshUrl"]],
];

/** A scheme as this version writes it, which is how the neutral model has it, but without what came later. */
export function encodeScheme(scheme: SecurityScheme): SecurityScheme {
  if (scheme.type !== "oauth2") return scheme;
  const flows: Partial<Record<OAuthFlowName, OAuthFlow>> = {};
  for (const [name, members] of FLOWS) {
    const flow = scheme.flows[name];
    if (flow === undefined) continue;
    flows[name] = encodeFlow(flow, members);
  }
  return { ...scheme, flows };
}

function encodeFlow(flow: OAuthFlow, members: readonly FlowMember[]): OAuthFlow {
  const known: { [Name in FlowMember]?: string } = {};
  for (const name of members) {
    const url = flow[name];
    if (url !== undefined) known[name] = url;
  }
  return { ...known, scopes: flow.scopes };
}
