// The agent card of 1.0 (A2A 1.0 §4.4.1). Differences from the neutral model: `interfaces` is `supportedInterfaces`, `binding` is
// `protocolBinding`, `security` is `securityRequirements`, and security schemes are wrapped (see `security.ts`).

import type {
  AgentCapabilities,
  AgentCard,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  SecurityRequirement,
  SecurityScheme,
} from "../../protocol/card.ts";
import { publicSkill } from "../card/skill.ts";
import { listOf, mapOf, textOf } from "../fields/answer-fields.ts";
import {
  asObject,
  member,
  optionalBoolean,
  optionalJsonObject,
  optionalString,
  type WireObject,
} from "../fields/fields.ts";
import {
  decodeRequirement,
  decodeScheme,
  encodeRequirement,
  encodeScheme,
  type WireRequirement,
  type WireScheme,
} from "./security.ts";

/** An agent card in the format of 1.0. */
export interface WireCard {
  readonly name: string;
  readonly description: string;
  /** Preferred first (A2A 1.0 §8.3.1). */
  readonly supportedInterfaces: readonly WireInterface[];
  readonly provider?: AgentProvider;
  readonly version: string;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly capabilities: AgentCapabilities;
  readonly securitySchemes?: Readonly<Record<string, WireScheme>>;
  readonly securityRequirements?: readonly WireRequirement[];
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly WireSkill[];
}

/** An `AgentInterface` (A2A 1.0 §4.4.6). */
export interface WireInterface {
  readonly url: string;
  readonly protocolBinding: string;
  /** `Major.Minor`, per interface; 0.3 has one version for the whole card. */
  readonly protocolVersion: string;
  readonly tenant?: string;
}

/** An `AgentSkill` (A2A 1.0 §4.4.5). */
export type WireSkill = Omit<AgentSkill, "security"> & { readonly securityRequirements?: readonly WireRequirement[] };

/** The card as JSON text, without signatures: the transport adds them. */
export function encodeCard(card: AgentCard): string {
  return JSON.stringify(cardObject(card));
}

/**
 * Only members that 1.0 defines, because strict readers reject cards with unknown members. Flags that the author did not set are left out:
 * for a signature, absent and `false` differ (A2A 1.0 §8.4.1).
 */
export function cardObject(card: AgentCard): WireCard {
  const { name, description, version, provider, documentationUrl, iconUrl, security, securitySchemes } = card;
  const { streaming, pushNotifications, extensions, extendedAgentCard } = card.capabilities;
  return {
    name,
    description,
    supportedInterfaces: card.interfaces.map(encodeInterface),
    ...(provider !== undefined && { provider: { organization: provider.organization, url: provider.url } }),
    version,
    ...(documentationUrl !== undefined && { documentationUrl }),
    ...(iconUrl !== undefined && { iconUrl }),
    capabilities: {
      ...(streaming !== undefined && { streaming }),
      ...(pushNotifications !== undefined && { pushNotifications }),
      ...(extensions !== undefined && { extensions }),
      ...(extendedAgentCard !== undefined && { extendedAgentCard }),
    },
    ...(securitySchemes !== undefined && {
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).map(([scheme, declared]) => [scheme, encodeScheme(declared)]),
      ),
    }),
    ...(security !== undefined && { securityRequirements: security.map(encodeRequirement) }),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(encodeSkill),
  };
}

function encodeInterface({ url, binding, protocolVersion, tenant }: AgentInterface): WireInterface {
  return { url, protocolBinding: binding, protocolVersion, ...(tenant !== undefined && { tenant }) };
}

function encodeSkill(skill: AgentSkill): WireSkill {
  const { security } = skill;
  return {
    ...publicSkill(skill),
    ...(security !== undefined && { securityRequirements: security.map(encodeRequirement) }),
  };
}

/** Decodes an agent's card, also a hybrid one or one with names from drafts of 1.0. Unknown declarations are omitted. */
export function decodeCard(value: unknown): AgentCard {
  const wire = asObject(value, "card");
  const provider = member(wire, "provider");
  const iconUrl = optionalString(member(wire, "iconUrl", "icon_url"), "iconUrl");
  const documentationUrl = optionalString(member(wire, "documentationUrl", "documentation_url"), "documentationUrl");
  const schemes = member(wire, "securitySchemes", "security_schemes");
  const security = decodeSecurity(wire, "");
  const interfaces = member(wire, "supportedInterfaces", "supported_interfaces");
  return {
    name: textOf(member(wire, "name"), "name"),
    description: textOf(member(wire, "description"), "description"),
    version: textOf(member(wire, "version"), "version"),
    interfaces: listOf(interfaces, "supportedInterfaces", decodeInterface),
    ...(provider !== undefined && { provider: decodeProvider(provider) }),
    ...(iconUrl !== undefined && { iconUrl }),
    ...(documentationUrl !== undefined && { documentationUrl }),
    capabilities: decodeCapabilities(wire),
    defaultInputModes: listOf(member(wire, "defaultInputModes", "default_input_modes"), "defaultInputModes", textOf),
    defaultOutputModes: listOf(
      member(wire, "defaultOutputModes", "default_output_modes"),
      "defaultOutputModes",
      textOf,
    ),
    skills: listOf(member(wire, "skills"), "skills", decodeSkill),
    ...(schemes !== undefined && { securitySchemes: decodeSchemes(schemes) }),
    ...(security !== undefined && { security }),
  };
}

/**
 * `{"url","protocolBinding":"JSONRPC","protocolVersion":"1.0.1"}` becomes `{ url, binding: "JSONRPC", protocolVersion: "1.0" }`. A missing
 * version counts as 1.0, because only cards of 1.0 have this list.
 */
function decodeInterface(value: unknown, path: string): AgentInterface {
  const wire = asObject(value, path);
  const tenant = optionalString(member(wire, "tenant"), `${path}.tenant`);
  const version = textOf(member(wire, "protocolVersion", "protocol_version") ?? "1.0", `${path}.protocolVersion`);
  return {
    url: textOf(member(wire, "url"), `${path}.url`),
    binding: textOf(member(wire, "protocolBinding", "protocol_binding"), `${path}.protocolBinding`),
    // Some agents add a patch number, which is ignored.
    protocolVersion: /^\d+\.\d+(?=\.)/.exec(version)?.[0] ?? version,
    ...(tenant !== undefined && { tenant }),
  };
}

function decodeProvider(value: unknown): AgentProvider {
  const wire = asObject(value, "provider");
  return {
    organization: textOf(member(wire, "organization"), "provider.organization"),
    url: textOf(member(wire, "url"), "provider.url"),
  };
}

/** Takes the whole card, because older cards declare the extended card outside of `capabilities`. */
function decodeCapabilities(card: WireObject): AgentCapabilities {
  const wire = asObject(member(card, "capabilities") ?? {}, "capabilities");
  const flag = (name: string, alias: string): boolean | undefined =>
    optionalBoolean(member(wire, name, alias), `capabilities.${name}`);
  const streaming = flag("streaming", "streaming");
  const pushNotifications = flag("pushNotifications", "push_notifications");
  const extensions = member(wire, "extensions");
  // The name in drafts of 1.0 and in 0.x.
  const elsewhere = member(card, "supportsExtendedAgentCard") ?? member(card, "supportsAuthenticatedExtendedCard");
  const extendedAgentCard =
    flag("extendedAgentCard", "extended_agent_card") ?? optionalBoolean(elsewhere, "supportsExtendedAgentCard");
  return {
    ...(streaming !== undefined && { streaming }),
    ...(pushNotifications !== undefined && { pushNotifications }),
    ...(extensions !== undefined && { extensions: listOf(extensions, "capabilities.extensions", decodeExtension) }),
    ...(extendedAgentCard !== undefined && { extendedAgentCard }),
  };
}

function decodeExtension(value: unknown, path: string): AgentExtension {
  const wire = asObject(value, path);
  const description = optionalString(member(wire, "description"), `${path}.description`);
  const required = optionalBoolean(member(wire, "required"), `${path}.required`);
  const params = optionalJsonObject(member(wire, "params"), `${path}.params`);
  return {
    uri: textOf(member(wire, "uri"), `${path}.uri`),
    ...(description !== undefined && { description }),
    ...(required !== undefined && { required }),
    ...(params !== undefined && { params }),
  };
}

function decodeSkill(value: unknown, path: string): AgentSkill {
  const wire = asObject(value, path);
  const examples = member(wire, "examples");
  const inputModes = member(wire, "inputModes", "input_modes");
  const outputModes = member(wire, "outputModes", "output_modes");
  const security = decodeSecurity(wire, `${path}.`);
  return {
    id: textOf(member(wire, "id"), `${path}.id`),
    name: textOf(member(wire, "name"), `${path}.name`),
    description: textOf(member(wire, "description"), `${path}.description`),
    tags: listOf(member(wire, "tags"), `${path}.tags`, textOf),
    ...(examples !== undefined && { examples: listOf(examples, `${path}.examples`, textOf) }),
    ...(inputModes !== undefined && { inputModes: listOf(inputModes, `${path}.inputModes`, textOf) }),
    ...(outputModes !== undefined && { outputModes: listOf(outputModes, `${path}.outputModes`, textOf) }),
    ...(security !== undefined && { security }),
  };
}

/** Leaves out schemes of unknown kinds: a client may still satisfy another one. */
function decodeSchemes(value: unknown): Record<string, SecurityScheme> {
  const schemes = Object.entries(mapOf(value, "securitySchemes", decodeScheme));
  const known = schemes.filter((entry): entry is [string, SecurityScheme] => entry[1] !== undefined);
  return Object.fromEntries(known);
}

/** `securityRequirements`, or `security` as in samples of 1.0 and in 0.x. */
function decodeSecurity(wire: WireObject, path: string): SecurityRequirement[] | undefined {
  const security = member(wire, "securityRequirements", "security_requirements") ?? member(wire, "security");
  return security === undefined ? undefined : listOf(security, `${path}securityRequirements`, decodeRequirement);
}
