import type { Discovered } from "palaver/client";
import { agentUrl, INSPECTED } from "../app/place.ts";
import { agentFetch } from "../data/agent-fetch.ts";

/** A card as the console shows it. All texts come from the agent. */
export interface CardView {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly SkillView[];
  readonly interfaces: readonly InterfaceView[];
  readonly streaming: boolean;
  readonly push: boolean;
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly provider: string | undefined;
  readonly documentationUrl: string | undefined;
  /** Names of the security schemes. */
  readonly schemes: readonly string[];
  /** What the client found that is not as the specification says. */
  readonly warnings: readonly string[];
  readonly json: unknown;
}

export interface SkillView {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  /** JSON Schema of the data of a message; `undefined`: none is declared. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

export interface InterfaceView {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
}

type Json = Readonly<Record<string, unknown>>;

const SCHEMAS = "urn:palaver:extension:input-schemas";

function record(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): readonly string[] {
  return list(value).filter((each) => typeof each === "string");
}

/** Reads a card of version 1.0. Members of the wrong type are left out. */
export function readCard(json: unknown): CardView {
  const card = record(json);
  const capabilities = record(card["capabilities"]);
  const extension = list(capabilities["extensions"])
    .map(record)
    .find((each) => each["uri"] === SCHEMAS);
  const schemas = record(record(extension?.["params"])["skills"]);
  return {
    name: text(card["name"]),
    description: text(card["description"]),
    version: text(card["version"]),
    skills: list(card["skills"]).map((value) => {
      const skill = record(value);
      const id = text(skill["id"]);
      const schema = Object.hasOwn(schemas, id) ? record(schemas[id]) : undefined;
      return {
        id,
        name: text(skill["name"]) || id,
        description: text(skill["description"]),
        tags: texts(skill["tags"]),
        examples: texts(skill["examples"]),
        schema,
      };
    }),
    interfaces: list(card["supportedInterfaces"]).map((value) => {
      const way = record(value);
      return { url: text(way["url"]), binding: text(way["protocolBinding"]), version: text(way["protocolVersion"]) };
    }),
    streaming: capabilities["streaming"] === true,
    push: capabilities["pushNotifications"] === true,
    inputModes: texts(card["defaultInputModes"]),
    outputModes: texts(card["defaultOutputModes"]),
    provider: text(record(card["provider"])["organization"]) || undefined,
    documentationUrl: text(card["documentationUrl"]) || undefined,
    schemes: Object.keys(record(card["securitySchemes"])),
    warnings: [],
    json,
  };
}

/** A card of any version, as the client reads it. */
function viewOf({ card, json, warnings }: Discovered): CardView {
  const schemas = record(record(card.capabilities.extensions?.find(({ uri }) => uri === SCHEMAS)?.params)["skills"]);
  return {
    name: card.name,
    description: card.description,
    version: card.version,
    skills: card.skills.map(({ id, name, description, tags, examples = [] }) => ({
      ...{ id, name: name || id, description, tags, examples },
      schema: Object.hasOwn(schemas, id) ? record(schemas[id]) : undefined,
    })),
    interfaces: card.interfaces.map(({ url, binding, protocolVersion }) => ({
      url,
      binding,
      version: protocolVersion,
    })),
    streaming: card.capabilities.streaming === true,
    push: card.capabilities.pushNotifications === true,
    inputModes: card.defaultInputModes,
    outputModes: card.defaultOutputModes,
    provider: card.provider?.organization,
    documentationUrl: card.documentationUrl,
    schemes: Object.keys(card.securitySchemes ?? {}),
    warnings: warnings.map(({ field, description }) => `${field} ${description}.`),
    json,
  };
}

/** What is wrong with a card, in words. */
export function cardProblems(card: CardView): readonly string[] {
  const problems: string[] = [...card.warnings];
  if (card.description.trim() === "") problems.push("It does not say what the agent does.");
  if (card.skills.length === 0) problems.push("It lists no skills.");
  const silent = card.skills.filter(({ examples }) => examples.length === 0).map(({ name }) => name);
  if (silent.length > 0) problems.push(`No examples for ${silent.join(", ")}.`);
  const untagged = card.skills.filter(({ tags }) => tags.length === 0).map(({ name }) => name);
  if (untagged.length > 0) problems.push(`No tags for ${untagged.join(", ")}; the protocol requires them.`);
  const insecure = card.interfaces.find(({ url }) => url.startsWith("http:") && !isLocal(url));
  if (insecure !== undefined) problems.push(`${insecure.url} is not encrypted (http).`);
  return problems;
}

function isLocal(url: string): boolean {
  return /^(?:localhost|127\.|\[::1\])/.test(URL.parse(url)?.host ?? "");
}

/** The card of an agent, read as any client reads it, with everything that is wrong with it. Rejects with an `Error` for people. */
export async function discoverCard(id: string, signal: AbortSignal): Promise<CardView> {
  const { discover } = await import("palaver/client");
  return viewOf(await discover(agentUrl(id), { fetch: agentFetch, cache: false, signal }));
}

/** The card of an agent. Rejects with an `Error` for people. */
export async function fetchCard(id: string, signal: AbortSignal): Promise<CardView> {
  if (INSPECTED !== undefined) return discoverCard(id, signal);
  const response = await fetch(`${agentUrl(id)}.well-known/agent-card.json`, {
    headers: { "a2a-version": "1.0" },
    signal,
  });
  if (response.status === 401 || response.status === 403) throw new Error("The card needs credentials of a caller.");
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return readCard(await response.json());
}
