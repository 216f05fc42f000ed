import type { OAuthFlow, OAuthFlowName, SecurityScheme } from "../../protocol/card.ts";

type FlowMember = Exclude<keyof OAuthFlow, "scopes" | "pkceRequired">;

/** The members of each OAuth flow in 0.3, which has no device code flow. */
const FLOWS: readonly (readonly [OAuthFlowName, readonly FlowMember[]])[] = [
  ["authorizationCode", ["authorizationUrl", "tokenUrl", "refreshUrl"]],
  ["clientCredentials", ["tokenUrl", "refreshUrl"]],
  ["implicit", ["authorizationUrl", "refreshUrl"]],
  ["password", ["tokenUrl", "refreshUrl"]],
];

/** Encodes a security scheme (A2A 0.3 §5.5.3): as in the neutral model, without members that 1.0 added. */
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

/** Leaves out URLs that the flow does not have in 0.3. */
function encodeFlow(flow: OAuthFlow, members: readonly FlowMember[]): OAuthFlow {
  const known: { [Name in FlowMember]?: string } = {};
  for (const name of members) {
    const url = flow[name];
    if (url !== undefined) known[name] = url;
  }
  return { ...known, scopes: flow.scopes };
}
