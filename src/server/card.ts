import type { Agent, Skill } from "../engine/agent/agent.ts";
import { definitionProblems } from "../engine/agent/definition-problems.ts";
import { givenJsonSchema, jsonSchemaOf } from "../engine/agent/json-schema.ts";
import { CALLS } from "../protocol/calls/ancestry.ts";
import type { AgentCard, AgentExtension, AgentInterface, AgentSkill } from "../protocol/card.ts";
import { A2AError } from "../protocol/error.ts";
import { IDEMPOTENT_SEND, INPUT_SCHEMAS } from "../protocol/extensions.ts";
import type { Principal } from "../protocol/principal.ts";

/** The input and output modes of an agent that declares none. */
export const DEFAULT_MODES: readonly string[] = ["text/plain", "application/json"];

/** The features of a server that cards announce. */
export interface CardContext {
  /** The server sends push notifications. Default false. */
  readonly push?: boolean;
  /** The idempotency window: milliseconds within which a repeated message counts once. Absent: every message counts. */
  readonly idempotencyWindow?: number | undefined;
  /** The server reads the ancestry of messages. */
  readonly calls?: boolean;
}

/** Extensions that only the server can declare. */
const MADE_HERE: readonly string[] = [IDEMPOTENT_SEND, INPUT_SCHEMAS, CALLS];

const CALLS_EXTENSION: AgentExtension = {
  uri: CALLS,
  description:
    "Reads the ancestry of messages that agents send, counts each of them once, and shows relations and usage in task metadata.",
};

/** The agent's public card. It announces only what this server supports. */
export function agentCard(
  agent: Agent,
  interfaces: readonly AgentInterface[],
  { push = false, idempotencyWindow, calls = false }: CardContext = {},
): AgentCard {
  const { provider, iconUrl, documentationUrl, securitySchemes, security } = agent;
  const own = agent.extensions?.filter(({ uri }) => !MADE_HERE.includes(uri)) ?? [];
  const extensions = [
    ...own,
    ...idempotentSend(idempotencyWindow),
    ...inputSchemas(agent.skills ?? []),
    ...(calls ? [CALLS_EXTENSION] : []),
  ];
  return {
    name: agent.name,
    description: agent.description,
    version: agent.version,
    interfaces,
    ...(provider !== undefined && { provider }),
    ...(iconUrl !== undefined && { iconUrl }),
    ...(documentationUrl !== undefined && { documentationUrl }),
    capabilities: {
      streaming: agent.capabilities?.streaming ?? true,
      pushNotifications: push && (agent.capabilities?.pushNotifications ?? true),
      ...(extensions.length > 0 && { extensions }),
      ...(agent.extendedCard !== undefined && { extendedAgentCard: true }),
      ...(agent.capabilities?.stateTransitionHistory === true && { stateTransitionHistory: true }),
    },
    defaultInputModes: declared(agent.inputModes) ?? DEFAULT_MODES,
    defaultOutputModes: declared(agent.outputModes) ?? DEFAULT_MODES,
    skills: agent.skills === undefined || agent.skills.length === 0 ? [wholeAgent(agent)] : agent.skills.map(skillOf),
    ...(securitySchemes !== undefined && Object.keys(securitySchemes).length > 0 && { securitySchemes }),
    ...(security !== undefined && security.length > 0 && { security }),
  };
}

/**
 * The card for an authenticated caller: the public card, overridden by the agent's extended card. `undefined`: this caller has no extended
 * card. Rejects with the error of the author's function, and with `internal` if that function returns an invalid card.
 */
export async function extendedAgentCard(
  agent: Agent,
  interfaces: readonly AgentInterface[],
  { caller, ...context }: CardContext & { readonly caller: Principal },
): Promise<AgentCard | undefined> {
  const { extendedCard } = agent;
  const given = typeof extendedCard === "function" ? await extendedCard(caller) : extendedCard;
  if (given === undefined) return undefined;
  // A declared card was checked at startup; the result of a function was not.
  if (typeof extendedCard === "function") requireSense({ ...agent, extendedCard: given });
  return agentCard({ ...agent, ...given }, interfaces, context);
}

/** Announces that callers may safely repeat a message, and for how long. */
function idempotentSend(idempotencyWindow: number | undefined): readonly AgentExtension[] {
  if (idempotencyWindow === undefined) return [];
  const description = "A message that is repeated with the same messageId counts once.";
  return [{ uri: IDEMPOTENT_SEND, description, params: { windowSeconds: idempotencyWindow / 1000 } }];
}

/** Announces the inputs of the skills that have a schema, so that callers can build forms and types. */
function inputSchemas(skills: readonly Skill[]): readonly AgentExtension[] {
  const schemas = skills.flatMap(({ id, input, jsonSchema }) => {
    const schema = input === undefined ? givenJsonSchema(jsonSchema) : jsonSchemaOf(input, jsonSchema);
    return schema === undefined ? [] : [[id, schema] as const];
  });
  if (schemas.length === 0) return [];
  const description = "The JSON Schema of the data of a message, by the id of the skill.";
  return [{ uri: INPUT_SCHEMAS, description, params: { skills: Object.fromEntries(schemas) } }];
}

function requireSense(agent: Agent): void {
  const problems = [...definitionProblems(agent, agent.id), ...missingSchemes(agent)];
  if (problems.length === 0) return;
  const cause = new TypeError(`extendedCard() of agent "${agent.id}": ${problems.join(" ")}`);
  throw new A2AError("internal", "The agent's extended card is invalid", { cause });
}

/** Required schemes that do not exist. At this point the agent has all schemes, including the server's. */
function missingSchemes({ extendedCard, ...agent }: Agent): readonly string[] {
  const given = typeof extendedCard === "object" ? extendedCard : {};
  const { security = [], skills = [], securitySchemes = {} } = { ...agent, ...given };
  const required = [...security, ...skills.flatMap((skill) => skill.security ?? [])].flatMap((names) =>
    Object.keys(names),
  );
  return required
    .filter((name) => !Object.hasOwn(securitySchemes, name))
    .map((name) => `It requires the scheme ${JSON.stringify(name)}, which does not exist.`);
}

/** A skill for the agent as a whole: cards need at least one skill (A2A 1.0 §4.4.1). */
function wholeAgent(agent: Agent): AgentSkill {
  return { id: agent.id, name: agent.name, description: agent.description, tags: [agent.id] };
}

/** The skill as cards show it, without the author's functions. */
function skillOf(skill: Skill): AgentSkill {
  const { id, name, description, tags, examples, inputModes, outputModes, security } = skill;
  return {
    id,
    name,
    description,
    tags: tags.length > 0 ? tags : [id],
    ...(examples !== undefined && { examples }),
    ...(inputModes !== undefined && { inputModes }),
    ...(outputModes !== undefined && { outputModes }),
    ...(security !== undefined && security.length > 0 && { security }),
  };
}

function declared(modes: readonly string[] | undefined): readonly string[] | undefined {
  return modes === undefined || modes.length === 0 ? undefined : modes;
}
