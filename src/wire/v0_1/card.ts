// The agent card of 0.1 (A2A 0.1 §5.5): one `url` for JSON-RPC, and `authentication` instead of security schemes. It has no interfaces, no
// extensions, no icon and no security requirements of skills.

import type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill } from "../../protocol/card.ts";
import { textOf } from "../fields/answer-fields.ts";
import { asObject, member } from "../fields/fields.ts";
import { decodeCard as decodeNewer, cardObject as newerCardObject } from "../v0_3/card.ts";
import { authenticationOf, decodeAuthentication, type WireAuthentication } from "./authentication.ts";

/** An agent card in the format of 0.1. */
export interface WireCard
  extends Omit<AgentCard, "interfaces" | "capabilities" | "skills" | "iconUrl" | "securitySchemes" | "security"> {
  readonly url: string;
  readonly capabilities: WireCapabilities;
  readonly authentication?: WireAuthentication;
  readonly skills: readonly Omit<AgentSkill, "security">[];
}

interface WireCapabilities extends Omit<AgentCapabilities, "extendedAgentCard" | "extensions"> {
  readonly stateTransitionHistory: boolean;
}

/** The card as JSON text. 0.1 has no signatures. */
export function encodeCard(card: AgentCard): string {
  return JSON.stringify(cardObject(card));
}

/** The card of 0.3 without the members that later versions added, and with `authentication`. */
export function cardObject(card: AgentCard): WireCard {
  const { name, description, version, provider, documentationUrl, capabilities, skills, ...modes } =
    newerCardObject(card);
  const { defaultInputModes, defaultOutputModes } = modes;
  const { extensions: _since0_2, ...known } = capabilities;
  const authentication = authenticationOf(card);
  return {
    name,
    description,
    url: addressOf(card.interfaces),
    ...(provider !== undefined && { provider }),
    version,
    ...(documentationUrl !== undefined && { documentationUrl }),
    capabilities: known,
    ...(authentication !== undefined && { authentication }),
    defaultInputModes,
    defaultOutputModes,
    skills: skills.map(({ security: _since0_3, ...skill }) => skill),
  };
}

/** The URL for JSON-RPC 0.1, else that of 0.2 or 0.3: the server accepts the methods of all 0.x versions at the same URL. */
function addressOf(interfaces: readonly AgentInterface[]): string {
  const rpc = interfaces.filter(({ binding }) => binding === "JSONRPC");
  const own = rpc.find(({ protocolVersion }) => protocolVersion === "0.1");
  return (own ?? rpc.find(({ protocolVersion }) => protocolVersion.startsWith("0.")))?.url ?? "";
}

/** The modes of a card that lists none (A2A 0.1 §5.5). */
const DEFAULT_MODES = ["text/plain"];

/** Decodes an agent's card. `securitySchemes` of later versions take precedence over `authentication` of 0.1. */
export function decodeCard(value: unknown): AgentCard {
  const wire = asObject(value, "card");
  const shared = decodeNewer(wire);
  const authentication = member(wire, "authentication");
  const url = textOf(member(wire, "url"), "url");
  return {
    ...shared,
    interfaces: [{ url, binding: "JSONRPC", protocolVersion: "0.1" }],
    defaultInputModes: shared.defaultInputModes.length > 0 ? shared.defaultInputModes : DEFAULT_MODES,
    defaultOutputModes: shared.defaultOutputModes.length > 0 ? shared.defaultOutputModes : DEFAULT_MODES,
    ...(shared.securitySchemes === undefined && authentication !== undefined && decodeAuthentication(authentication)),
  };
}
