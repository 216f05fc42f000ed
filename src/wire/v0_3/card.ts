// The agent card of 0.3 (A2A 0.3 §5.5). It has one main `url` with `preferredTransport`, and lists all endpoints in `additionalInterfaces`;
// the neutral model has one list. Security schemes and requirements have the form of OpenAPI, as in the neutral model.

import type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill } from "../../protocol/card.ts";
import { publicSkill } from "../card/skill.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asObject, member, optionalString, type WireObject } from "../fields/fields.ts";
import { decodeCard as decodeShared } from "../v1_0/card.ts";
import { encodeScheme } from "./security.ts";

/** An agent card in the format of 0.3. */
export interface WireCard extends Omit<AgentCard, "interfaces" | "capabilities"> {
  readonly protocolVersion: string;
  readonly url: string;
  /** The binding at `url`. Required by the text, optional in the schema (A2A 0.3 §5.6.1); always written. */
  readonly preferredTransport: string;
  /** All endpoints, the main one included. */
  readonly additionalInterfaces: readonly WireInterface[];
  readonly capabilities: WireCapabilities;
  /** `capabilities.extendedAgentCard` of 1.0. */
  readonly supportsAuthenticatedExtendedCard?: boolean;
}

interface WireInterface {
  readonly url: string;
  readonly transport: string;
}

type WireCapabilities = Omit<AgentCapabilities, "extendedAgentCard"> & { readonly stateTransitionHistory: boolean };

/** The card as JSON text, without signatures: the transport adds them. */
export function encodeCard(card: AgentCard): string {
  return JSON.stringify(cardObject(card));
}

/**
 * Lists only the interfaces of the card's own version. The main interface is JSON-RPC if there is one, because every client of 0.3
 * supports it; `additionalInterfaces` repeats the main interface (A2A 0.3 §5.6.2).
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

/** `extendedAgentCard` is a member of the card itself in 0.3: `supportsAuthenticatedExtendedCard`. */
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
 * Decodes an agent's card. The decoder of 1.0 reads everything but the interfaces, since it accepts the format of 0.3. `ownVersion` is used
 * if the card has no `protocolVersion`.
 */
export function decodeCard(value: unknown, ownVersion = "0.3"): AgentCard {
  return { ...decodeShared(value), interfaces: decodeInterfaces(asObject(value, "card"), ownVersion) };
}

/** The main interface first, and only once. */
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
