import type { AgentCapabilities, AgentProvider, AgentSkill } from "../../protocol/card.ts";
import type { CardPromises, PromisedInterface } from "../../protocol/card-promises.ts";
import { isWireObject, type WireObject } from "../fields/fields.ts";
import { flatRequirements, flatSchemes } from "./declared-security.ts";

/**
 * An agent card of any protocol version, as input for `agent()`. Its URLs are ignored: the server decides where the agent is served. Its protocol
 * versions and bindings must be supported by the server.
 */
export interface DeclaredCard {
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
  readonly provider?: AgentProvider;
  readonly iconUrl?: string;
  readonly documentationUrl?: string;
  readonly defaultInputModes?: readonly string[];
  readonly defaultOutputModes?: readonly string[];
  readonly capabilities?: AgentCapabilities;
  readonly skills?: readonly (AgentSkill & { readonly securityRequirements?: readonly object[] })[];
  readonly securitySchemes?: Readonly<Record<string, object>>;
  readonly security?: readonly object[];
  readonly securityRequirements?: readonly object[];
  readonly supportsAuthenticatedExtendedCard?: boolean;
  readonly supportsExtendedAgentCard?: boolean;
  readonly supportedInterfaces?: readonly object[];
  readonly url?: string;
  readonly preferredTransport?: string;
  readonly protocolVersion?: string;
  readonly additionalInterfaces?: readonly object[];
  readonly signatures?: readonly object[];
}

/** The members of a card in neutral form, not validated. */
export interface CardMembers {
  /** By the names that definitions of agents have. Absent members are left out. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly promises: CardPromises;
}

/**
 * Converts the card with which an author declares an agent. Nothing is validated or left out, unlike in the card of a foreign agent: the
 * author must learn of every invalid member. Throws a `TypeError` for `authentication`, the member of 0.1 that cannot be converted.
 */
export function declaredMembers(card: DeclaredCard): CardMembers {
  if ("authentication" in card) {
    throw new TypeError(
      "agent(): the card has the member `authentication` of early A2A versions, which is not supported. Use `securitySchemes` and `security`.",
    );
  }
  const { name, description, version, provider, iconUrl, documentationUrl } = card;
  const members = {
    name,
    description,
    version,
    provider,
    iconUrl,
    documentationUrl,
    inputModes: card.defaultInputModes,
    outputModes: card.defaultOutputModes,
    capabilities: capabilitiesOf(card),
    extensions: card.capabilities?.extensions,
    skills: skillsOf(card.skills),
    securitySchemes: flatSchemes(card.securitySchemes),
    security: flatRequirements(card.securityRequirements ?? card.security),
  };
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return { members: Object.fromEntries(present), promises: promisesOf(card) };
}

function capabilitiesOf(card: DeclaredCard): unknown {
  const { extensions: _, ...flags } = card.capabilities ?? {};
  const extended = [
    flags.extendedAgentCard,
    card.supportsAuthenticatedExtendedCard,
    card.supportsExtendedAgentCard,
  ].filter((flag) => flag !== undefined);
  if (extended.length === 0) return Object.keys(flags).length === 0 ? undefined : flags;
  return { ...flags, extendedAgentCard: extended.includes(true) };
}

function skillsOf(skills: unknown): unknown {
  if (!Array.isArray(skills)) return skills;
  return skills.map((skill: unknown) => {
    if (!isWireObject(skill)) return skill;
    const { securityRequirements, security, tags = [], ...rest } = skill;
    const requirements = securityRequirements ?? security;
    return { ...rest, tags, ...(requirements !== undefined && { security: flatRequirements(requirements) }) };
  });
}

function promisesOf(card: DeclaredCard): CardPromises {
  const { protocolVersion, preferredTransport } = card;
  const interfaces: PromisedInterface[] = listed(card.supportedInterfaces).map((entry, index) => ({
    field: `supportedInterfaces[${index}]`,
    binding: textOf(entry["protocolBinding"]),
    protocolVersion: entry["protocolVersion"] === undefined ? undefined : textOf(entry["protocolVersion"]),
  }));
  if (preferredTransport !== undefined || protocolVersion !== undefined) {
    const field = preferredTransport === undefined ? "protocolVersion" : "preferredTransport";
    interfaces.push({ field, binding: preferredTransport ?? "JSONRPC", protocolVersion });
  }
  for (const [index, entry] of listed(card.additionalInterfaces).entries()) {
    const field = `additionalInterfaces[${index}]`;
    interfaces.push({ field, binding: textOf(entry["transport"]), protocolVersion });
  }
  return { interfaces, isSigned: listed(card.signatures).length > 0 };
}

function listed(value: unknown): readonly WireObject[] {
  return Array.isArray(value) ? value.map((entry: unknown) => (isWireObject(entry) ? entry : {})) : [];
}

/** The value as text, for comparisons and error messages. A value that is not a string matches no binding and no version. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}
