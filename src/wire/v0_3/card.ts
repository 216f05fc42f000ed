import type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill } from "../../protocol/card.ts";
import { publicSkill } from "../card/skill.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asObject, member, optionalString, type WireObject } from "../fields/fields.ts";
import { decodeCard as decodeShared } from "../v1_0/card.ts";
import { encodeScheme } from "./security.ts";

/** A card as this version spells it. */
export interface WireCard extends Omit<AgentCard, "interfaces" | "capabilities"> {
  readonly protocolVersion: string;
  readonly url: string;
  readonly preferredTransport: string;
  readonly additionalInterfaces: readonly WireInterface[];
  readonly capabilities: WireCapabilities;
  readonly supportsAuthenticatedExtendedCard?: boolean;
}

interface WireInterface {
  readonly url: string;
  readonly transport: string;
}

type WireCapabilities = Omit<AgentCapabilities, "extendedAgentCard"> & { readonly stateTransitionHistory: boolean };

export function encodeCard(card: AgentCard): string {
  return JSON.stringify(cardObject(card));
}

/**
 * Of the interfaces only those of the card's own version, JSON-RPC as the main one where there is one: every client of it speaks that.
 * The main one is listed again, as the protocol advises.
 */
export function cardObject(card: AgentCard, ownVersion = "0.3"): WireCard {
  const { name, description, version, provider, iconUrl, documentationUrl, securitySchemes, security } = card;
  const { extendedAgentCard } = card.capabilities;
  const interfaces = card.interfaces.filter(({ protocolVersion }) => protocolVersion === ownVersion);
  const main = interfaces.find(({ binding }) => binding === "JSONRPC") ?? interfaces[0];
  return {
    protocolVersion: "0.3.0",
    name,
    description,
    url: main?.url ?? "",
    preferredTransport: main?.binding ?? "JSONRPC",
    additionalInterfaces: interfaces.map(({ url, binding }) => ({ url, transport: binding })),
    ...(provider !== undefined && { provider: { organization: provider.organization, url: provider.url } }),
    version,
    ...(documentationUrl !== undefined && { documentationUrl }),
    ...(iconUrl !== undefined && { iconUrl }),
    capabilities: encodeCapabilities(card.capabilities),
    ...(securitySchemes !== undefined && {
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).map(([scheme, declared]) => [scheme, encodeScheme(declared)]),
      ),
    }),
    ...(security !== undefined && { security }),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(encodeSkill),
    ...(extendedAgentCard !== undefined && { supportsAuthenticatedExtendedCard: extendedAgentCard }),
  };
}

function encodeCapabilities(capabilities: AgentCapabilities): WireCapabilities {
  const { streaming, pushNotifications, stateTransitionHistory = false, extensions } = capabilities;
  return {
    ...(streaming !== undefined && { streaming }),
    ...(pushNotifications !== undefined && { pushNotifications }),
    stateTransitionHistory,
    ...(extensions !== undefined && { extensions }),
  };
}

function encodeSkill(skill: AgentSkill): AgentSkill {
  const { security } = skill;
  return { ...publicSkill(skill), ...(security !== undefined && { security }) };
}

/**
 * An agent's card. All but the interfaces is read as the next version does, which understands this one's spelling. `ownVersion`
 * is that of the interfaces where the card does not say.
 */
export function decodeCard(value: unknown, ownVersion = "0.3"): AgentCard {
  return { ...decodeShared(value), interfaces: decodeInterfaces(asObject(value, "card"), ownVersion) };
}

/** The main one first, however often it is listed. */
function decodeInterfaces(wire: WireObject, ownVersion: string): AgentInterface[] {
  const [protocolVersion = ownVersion] =
    /^\d+\.\d+/.exec(textOf(member(wire, "protocolVersion"), "protocolVersion")) ?? [];
  const main = {
    url: textOf(member(wire, "url"), "url"),
    binding: optionalString(member(wire, "preferredTransport"), "preferredTransport") ?? "JSONRPC",
    protocolVersion,
  };
  const listed = listOf(member(wire, "additionalInterfaces"), "additionalInterfaces", (item, path) => {
    const entry = asObject(item, path);
    const url = textOf(member(entry, "url"), `${path}.url`);
    return { url, binding: textOf(member(entry, "transport"), `${path}.transport`), protocolVersion };
  });
  return [main, ...listed.filter(({ url, binding }) => url !== main.url || binding !== main.binding)];
}
