import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CardPromises, DeclaredCard, PromisedInterface } from "./card-types.ts";
import { flatRequirements, flatSchemes } from "./declared-security.ts";
import { isRecord } from "./declared-value.ts";
import type { AgentDefinition } from "./definition.ts";

export interface Declared {
  readonly definition: Partial<AgentDefinition>;
  readonly promises: CardPromises;
}

/** Converts a card to the members of a definition, without validating them. Throws a `TypeError` if the file cannot be read or parsed. */
export function declaredBy(card: string | URL | DeclaredCard): Declared {
  const declared = typeof card === "string" || card instanceof URL ? readCard(card) : card;
  if ("authentication" in declared) {
    throw new TypeError(
      "agent(): the card has the member `authentication` of early A2A versions, which is not supported. Use `securitySchemes` and `security`.",
    );
  }
  const { name, description, version, provider, iconUrl, documentationUrl } = declared;
  const definition = {
    name,
    description,
    version,
    provider,
    iconUrl,
    documentationUrl,
    inputModes: declared.defaultInputModes,
    outputModes: declared.defaultOutputModes,
    capabilities: capabilitiesOf(declared),
    extensions: declared.capabilities?.extensions,
    skills: skillsOf(declared.skills),
    securitySchemes: flatSchemes(declared.securitySchemes),
    security: flatRequirements(declared.securityRequirements ?? declared.security),
  };
  const present = Object.entries(definition).filter(([, value]) => value !== undefined);
  return {
    // Validated later, together with the members of the definition.
    definition: Object.fromEntries(present),
    promises: promisesOf(declared),
  };
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
    if (!isRecord(skill)) return skill;
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

function listed(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map((entry: unknown) => (isRecord(entry) ? entry : {})) : [];
}

/** The value as text, for comparisons and error messages. A value that is not a string matches no binding and no version. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}

function readCard(file: string | URL): DeclaredCard {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new TypeError(
      `agent(): the card ${path} cannot be read. Pass an existing path (relative to the working directory) or a file: URL.`,
      {
        cause,
      },
    );
  }
  try {
    const card: unknown = JSON.parse(text);
    if (isRecord(card)) return card;
  } catch (cause) {
    throw new TypeError(`agent(): the card ${path} is not JSON.`, { cause });
  }
  throw new TypeError(`agent(): the card ${path} is not a JSON object.`);
}
