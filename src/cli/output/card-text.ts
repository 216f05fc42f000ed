import type { AgentCard, AgentInterface, AgentSkill, SecurityScheme } from "../../protocol/card.ts";
import type { TextWriter } from "./text-writer.ts";

/** How much of a card is printed. `verbose` adds tags and examples of skills. */
export interface CardTextOptions {
  /** The interface that calls use. */
  readonly chosen: AgentInterface | undefined;
  readonly verbose: boolean;
}

/** Writes an agent card as text fields. */
export async function writeCard(writer: TextWriter, card: AgentCard, options: CardTextOptions): Promise<void> {
  for (const [label, value] of cardFields(card, options)) await writer.field(label, value);
}

type Field = readonly [label: string, value: string];

function cardFields(card: AgentCard, { chosen, verbose }: CardTextOptions): readonly Field[] {
  const { capabilities, provider, securitySchemes = {}, security } = card;
  return [
    ["Name", card.name],
    ["Description", card.description],
    ["Version", card.version],
    ...optional("Provider", provider && `${provider.organization} (${provider.url})`),
    ...optional("Documentation", card.documentationUrl),
    ["Streaming", yesNo(capabilities.streaming)],
    ["Push notifications", yesNo(capabilities.pushNotifications)],
    ["Extended card", yesNo(capabilities.extendedAgentCard)],
    ...(capabilities.extensions ?? []).map(
      ({ uri, required }): Field => ["Extension", required ? `${uri} (required)` : uri],
    ),
    ...card.interfaces.map((way): Field => ["Interface", describeInterface(way)]),
    ...optional("Chosen interface", chosen && describeInterface(chosen)),
    ...Object.entries(securitySchemes).map(
      ([name, scheme]): Field => ["Security scheme", describeScheme(name, scheme)],
    ),
    ...(security ?? []).map((required): Field => ["Requires", Object.keys(required).join(" and ") || "nothing"]),
    ["Input modes", card.defaultInputModes.join(", ")],
    ["Output modes", card.defaultOutputModes.join(", ")],
    ...card.skills.flatMap((skill) => skillFields(skill, verbose)),
  ];
}

/** One line per skill: `Skill: id: name: description`. */
function skillFields({ id, name, description, tags, examples = [] }: AgentSkill, verbose: boolean): readonly Field[] {
  const title: Field = ["Skill", `${id}: ${name}: ${description}`];
  if (!verbose) return [title];
  return [title, ["Tags", tags.join(", ")], ...examples.map((example): Field => ["Example", example])];
}

function describeInterface({ binding, protocolVersion, url, tenant }: AgentInterface): string {
  return `${binding} ${protocolVersion} at ${url}${tenant === undefined ? "" : ` (tenant ${tenant})`}`;
}

function describeScheme(name: string, scheme: SecurityScheme): string {
  switch (scheme.type) {
    case "apiKey":
      return `${name} (API key, ${scheme.in} ${scheme.name})`;
    case "http":
      return `${name} (HTTP ${scheme.scheme})`;
    case "oauth2":
      return `${name} (OAuth 2: ${Object.keys(scheme.flows).join(", ")})`;
    case "openIdConnect":
      return `${name} (OpenID Connect, ${scheme.openIdConnectUrl})`;
    case "mutualTLS":
      return `${name} (mutual TLS)`;
  }
}

function optional(label: string, value: string | undefined): readonly Field[] {
  return value === undefined ? [] : [[label, value]];
}

function yesNo(declared: boolean | undefined): string {
  return declared === true ? "yes" : "no";
}
