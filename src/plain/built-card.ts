import { toolSkill } from "../internal/tool-skill.ts";
import { withoutTrailing } from "../internal/without-trailing.ts";
import type { A2AAgentCard, A2AAgentSkill } from "./agent-card-types.ts";
import { type Registration, registeredTools } from "./registered-tools.ts";

/** An agent of a program with MCP tools. */
export interface CardAgent {
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  /** Names of the tools that the agent may use. Default: the default tools. */
  readonly mcpToolPermissions?: readonly string[] | null | undefined;
}

/** The character of an agent. */
export interface Persona {
  readonly archetype?: string | null | undefined;
  readonly background?: string | null | undefined;
  readonly traits?: readonly string[] | null | undefined;
}

/** A set of abilities that an agent was given, with the tools that it needs. */
export interface SkillBundle {
  readonly id?: string | undefined;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly tools?: readonly string[] | null | undefined;
}

/** Where the characters and the bundles of agents are found. Both may be absent. */
export interface CardDatabase {
  getPersona?(agentId: string): Persona | null | undefined | Promise<Persona | null | undefined>;
  getAgentBundles?(agentId: string): readonly SkillBundle[] | Promise<readonly SkillBundle[]>;
}

const MODES = ["text/plain", "application/json"];

/** The card of the whole program, with all registered tools. */
export function builtInstanceCard(baseUrl?: string): A2AAgentCard {
  const { tools, instance } = registeredTools();
  const { name = "Palaver", description = "Offers its tools to other agents.", supportedProtocols } = instance;
  return {
    ...commonOf(registeredTools()),
    name,
    description,
    url: baseOf(baseUrl),
    skills: Array.from(tools.values(), skillOf),
    ...(supportedProtocols !== undefined && { supportedProtocols }),
  };
}

/** The card of one agent: the tools that it may use, its bundles and its character. */
export async function builtAgentCard(agent: CardAgent, baseUrl?: string, db: CardDatabase = {}): Promise<A2AAgentCard> {
  const { tools, instance } = registeredTools();
  const persona = await db.getPersona?.(agent.id);
  const bundles = (await db.getAgentBundles?.(agent.id)) ?? [];
  const own = agent.mcpToolPermissions ?? instance.defaultTools ?? [...tools.keys()];
  const names = new Set([...own, ...bundles.flatMap((bundle) => bundle.tools ?? [])]);
  const skills = Array.from(names).flatMap((name) => tools.get(name) ?? []);
  return {
    ...commonOf(registeredTools()),
    name: agent.name ?? agent.id,
    description: describedBy(agent.description || agent.name || agent.id, persona),
    url: `${baseOf(baseUrl)}/agents/${encodeURIComponent(agent.id)}`,
    skills: [...skills.map(skillOf), ...bundles.map(bundleSkill)],
    ...(instance.supportedProtocols !== undefined && { supportedProtocols: instance.supportedProtocols }),
  };
}

function commonOf({ instance }: Registration) {
  return {
    version: instance.version ?? "0.0.0",
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
  };
}

function skillOf(tool: Parameters<typeof toolSkill>[0]): A2AAgentSkill {
  return { ...toolSkill(tool), inputModes: ["application/json"], outputModes: ["application/json", "text/plain"] };
}

function bundleSkill({ id, name, description }: SkillBundle): A2AAgentSkill {
  return { id: `bundle-${id ?? name}`, name, description: description || name, tags: ["skill-bundle"] };
}

function describedBy(description: string, persona: Persona | null | undefined): string {
  const { archetype, background, traits } = persona ?? {};
  const additions = [
    ...(archetype ? [`Archetype: ${archetype}.`] : []),
    ...(background ? [background] : []),
    ...(traits && traits.length > 0 ? [`Traits: ${traits.join(", ")}.`] : []),
  ];
  return [description, ...additions].join(" ");
}

/** The given URL; otherwise the address that `BIND_HOST` and `PORT` name. */
function baseOf(baseUrl: string | undefined): string {
  if (baseUrl !== undefined) return withoutTrailing(baseUrl, "/");
  const { PORT: port = "", BIND_HOST: bound = "" } = process.env;
  const host = bound === "" || bound === "0.0.0.0" || bound === "::" ? "127.0.0.1" : bound;
  const shown = host.includes(":") ? `[${host}]` : host;
  return `http://${shown}:${/^\d{1,5}$/.test(port) ? Number(port) : DEFAULT_PORT}`;
}

const DEFAULT_PORT = 3000;
