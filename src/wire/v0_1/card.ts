import type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill } from "../../protocol/card.ts";
import { textOf } from "../fields/answer-fields.ts";
import { asObject, member } from "../fields/fields.ts";
import { decodeCard as decodeNewer, cardObject as newerCardObject } from "../v0_3/card.ts";
import { authenticationOf, decodeAuthentication, type WireAuthentication } from "./authentication.ts";

/** A card as this version spells it. */
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

export function encodeCard(card: AgentCard): string {
  return JSON.stringify(cardObject(card));
}

export function cardObject(card: AgentCard): WireCard {
  const { name, description, version, provider, documentationUrl, capabilities, skills, ...modes } =
    newerCardObject(card);
  const { defaultInputModes, defaultOutputModes } = modes;
  const { extensions: _later, ...known } = capabilities;
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
    skills: skills.map(({ security: _afterwards, ...skill }) => skill),
  };
}

/** There is one address; those of the versions after this one will do, whose methods have other names. */
function addressOf(interfaces: readonly AgentInterface[]): string {
  const rpc = interfaces.filter(({ binding }) => binding === "JSONRPC");
  const own = rpc.find(({ protocolVersion }) => protocolVersion === "0.1");
  return (own ?? rpc.find(({ protocolVersion }) => protocolVersion.startsWith("0.")))?.url ?? "";
}

const DEFAULT_MODES = ["text/plain"];

/** An agent's card. Cards that later versions read as well say more about how to authenticate, and then that counts. */
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
