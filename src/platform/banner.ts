import type { Agent } from "../engine/agent/agent.ts";
import type { AgentInterface, SecurityScheme } from "../protocol/card.ts";
import { exampleSends } from "../wire/example-sends.ts";

/** What the start-up text says. */
export interface BannerFacts {
  /** URL of the server on this machine, without a trailing slash. */
  readonly url: string;
  /** The URL in agent cards. */
  readonly publicUrl: string;
  readonly agents: readonly Agent[];
  /** The interfaces of every agent. */
  readonly interfaces: readonly Pick<AgentInterface, "binding" | "protocolVersion">[];
  /** Where data is stored, as text for people. */
  readonly storage: string;
  /** Opens the console. Absent: it is turned off. */
  readonly consoleUrl?: string | undefined;
  readonly version: string;
  /** The process id of the server. With npm it differs from the process that the user started. */
  readonly pid: number;
  /** Authentication schemes by name. Empty: no authentication. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
}

/** The address of the card since 0.3. */
export const CARD_PATH = "/.well-known/agent-card.json";

/** The start-up text for a terminal: agents, URLs and commands to try. */
export function banner(facts: BannerFacts): string {
  const { url, agents, storage, version } = facts;
  const width = Math.max(...agents.map(({ name }) => name.length));
  const served = agents.map(({ id, name }) => `    ${name.padEnd(width)}  ${url}/agents/${id}/`);
  return [
    "",
    `  Palaver ${version} is listening on ${url}`,
    "",
    agents.length === 1 ? "  Agent" : "  Agents (the first is also at the root)",
    ...served,
    "",
    ...consoleUrls(facts).map((consoleUrl) => `  Console  ${consoleUrl}`),
    `  Supports ${supported(facts)}`,
    `  Card     ${url}${CARD_PATH}`,
    ...differentPublicUrl(facts).map((publicUrl) => `  Public   ${publicUrl}`),
    `  Data     ${storage}`,
    `  Process  ${facts.pid}`,
    ...requiredCredentials(facts).map((callers) => `  Callers  ${callers}`),
    "",
    ...examples(facts).flatMap(({ name, lines }) => [
      `  Try ${name}`,
      ...lines.map((line, index) => `    ${index === 0 ? "" : "  "}${line}`),
      "",
    ]),
    "  Ctrl+C stops it.",
    "",
    "",
  ].join("\n");
}

/** The same for a log: one fact per line, without decoration. */
export function plainBanner(facts: BannerFacts): string {
  const { url, agents, storage, version } = facts;
  return [
    `Palaver ${version} is listening on ${url}`,
    ...agents.map(({ id, name }) => `Agent: ${name} ${url}/agents/${id}/`),
    ...consoleUrls(facts).map((consoleUrl) => `Console: ${consoleUrl}`),
    `Supports: ${supported(facts)}`,
    `Card: ${url}${CARD_PATH}`,
    ...differentPublicUrl(facts).map((publicUrl) => `Public: ${publicUrl}`),
    `Data: ${storage}`,
    `Process: ${facts.pid}`,
    ...requiredCredentials(facts).map((callers) => `Callers: ${callers}`),
    ...examples(facts).map(({ name, lines }) => `Try ${name}: ${lines.join("\n")}`),
    "",
  ].join("\n");
}

const BINDING_NAMES: Readonly<Record<string, string>> = {
  JSONRPC: "JSON-RPC",
  "HTTP+JSON": "REST",
  GRPC: "gRPC",
};

/** The bindings, each with its versions. */
function supported({ interfaces }: BannerFacts): string {
  const versions = new Map<string, Set<string>>();
  for (const { binding, protocolVersion } of interfaces) {
    versions.set(binding, (versions.get(binding) ?? new Set()).add(protocolVersion));
  }
  const bindings = Array.from(versions, ([binding, of]) => `${bindingName(binding)} ${[...of].join(", ")}`);
  return `A2A over ${bindings.join(" · ")}`;
}

/** Bindings that the protocol does not define have a URI as their name. */
function bindingName(binding: string): string {
  return BINDING_NAMES[binding] ?? binding.slice(binding.lastIndexOf(":") + 1);
}

/** The public URL, if it differs. */
function differentPublicUrl({ url, publicUrl }: BannerFacts): readonly string[] {
  return publicUrl === url ? [] : [publicUrl];
}

/** The URL of the console, if it is on. */
function consoleUrls({ consoleUrl }: BannerFacts): readonly string[] {
  return consoleUrl === undefined ? [] : [consoleUrl];
}

/** The credentials that callers need, if any. */
function requiredCredentials({ schemes }: BannerFacts): readonly string[] {
  const ways = Object.entries(schemes).map(([name, scheme]) => `${name} (${credentialPlace(scheme)})`);
  return ways.length === 0 ? [] : [`authenticate with ${ways.join(" or ")}`];
}

function credentialPlace(scheme: SecurityScheme): string {
  switch (scheme.type) {
    case "apiKey":
      return `${scheme.in} ${scheme.name}`;
    case "mutualTLS":
      return "a client certificate";
    case "http":
      return `Authorization: ${scheme.scheme}`;
    default:
      return "Authorization: Bearer";
  }
}

/** The credential options of a curl command, with placeholders. */
function credentials({ schemes }: BannerFacts): string {
  const [scheme] = Object.values(schemes);
  if (scheme === undefined) return "";
  if (scheme.type === "mutualTLS") return " --cert … --key …";
  if (scheme.type !== "apiKey") {
    const word = scheme.type === "http" && scheme.scheme.toLowerCase() === "basic" ? "Basic" : "Bearer";
    return ` -H 'Authorization: ${word} …'`;
  }
  return scheme.in === "header" ? ` -H '${scheme.name}: …'` : "";
}

interface Example {
  readonly name: string;
  /** One shell command. */
  readonly lines: readonly string[];
}

/** Shell commands that send a message to the agent at the root. */
function examples(facts: BannerFacts): readonly Example[] {
  const { url, interfaces } = facts;
  return exampleSends(interfaces).map(({ binding, path, version, body }) => ({
    name: bindingName(binding),
    lines: [
      `curl -s ${url}${path} -H 'A2A-Version: ${version}' -H 'Content-Type: application/json'${credentials(facts)} \\`,
      `-d '${body}'`,
    ],
  }));
}
