import type { Agent, Skill } from "../engine/agent/agent.ts";
import { definitionProblems } from "../engine/agent/definition-problems.ts";
import type { AgentCard, AgentExtension, AgentInterface, AgentSkill } from "../protocol/card.ts";
import { A2AError } from "../protocol/error.ts";
import { IDEMPOTENT_SEND } from "../protocol/extensions.ts";
import type { Principal } from "../protocol/principal.ts";

/** What an agent takes and gives where its author declares nothing. */
export const DEFAULT_MODES: readonly string[] = ["text/plain", "application/json"];

/** What a server does for its agents, as far as their cards tell. */
export interface CardContext {
  /** It notifies who wants to be notified. Default false. */
  readonly push?: boolean;
  /** Idempotency window in milliseconds: a repeated message gets the earlier task. Absent: no idempotency. */
  readonly idempotencyWindow?: number | undefined;
}

/** What the agent declares, as a card. It promises only what this server does. */
export function agentCard(
  agent: Agent,
  interfaces: readonly AgentInterface[],
  { push = false, idempotencyWindow }: CardContext = {},
): AgentCard {
  const { provider, iconUrl, documentationUrl, securitySchemes, security } = agent;
  const own = agent.extensions?.filter(({ uri }) => uri !== IDEMPOTENT_SEND) ?? [];
  const extensions = [...own, ...idempotentSend(idempotencyWindow)];
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
 * The card for an authenticated caller: the public one with what the agent declares for such callers put over it. `undefined`: there is
 * none for this one. Rejects with whatever the author's function throws, and with `internal` where it gives what is no card.
 */
export async function extendedAgentCard(
  agent: Agent,
  interfaces: readonly AgentInterface[],
  { caller, ...context }: CardContext & { readonly caller: Principal },
): Promise<AgentCard | undefined> {
  const { extendedCard } = agent;
  const given = typeof extendedCard === "function" ? await extendedCard(caller) : extendedCard;
  if (given === undefined) return undefined;
  // What is declared was checked when it was; what a function gives was not.
  if (typeof extendedCard === "function") requireSense({ ...agent, extendedCard: given });
  return agentCard({ ...agent, ...given }, interfaces, context);
}

/** Tells callers that they may repeat what they do not know to have arrived, and for how long. */
function idempotentSend(idempotencyWindow: number | undefined): readonly AgentExtension[] {
  if (idempotencyWindow === undefined) return [];
  const description = "A message that is sent again under the same messageId counts once.";
  return [{ uri: IDEMPOTENT_SEND, description, params: { windowSeconds: idempotencyWindow / 1000 } }];
}

function requireSense(agent: Agent): void {
  const problems = [...definitionProblems(agent, agent.id), ...missingSchemes(agent)];
  if (problems.length === 0) return;
  const cause = new TypeError(`extendedCard() of agent "${agent.id}": ${problems.join(" ")}`);
  throw new A2AError("internal", "The agent's extended card is not in order", { cause });
}

/** When it is served an agent has all its schemes, those of the server included: nothing else can be required. */
function missingSchemes({ extendedCard, ...agent }: Agent): readonly string[] {
  const given = typeof extendedCard === "object" ? extendedCard : {};
  const { security = [], skills = [], securitySchemes = {} } = { ...agent, ...given };
  const required = [...security, ...skills.flatMap((skill) => skill.security ?? [])].flatMap((names) =>
    Object.keys(names),
  );
  return required
    .filter((name) => !Object.hasOwn(securitySchemes, name))
    .map((name) => `It requires the scheme ${JSON.stringify(name)}, which is not there.`);
}

/** Cards need at least one skill; an agent without any can do one thing, which is what it is for. */
function wholeAgent(agent: Agent): AgentSkill {
  return { id: agent.id, name: agent.name, description: agent.description, tags: [agent.id] };
}

/** Without the parts that are the author's code. */
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
