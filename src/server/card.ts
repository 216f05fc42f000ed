import type { Agent, Skill } from "../engine/agent.ts";
import type { AgentCard, AgentSkill } from "../protocol/card.ts";

/** What an agent takes and gives where its author declares nothing. */
export const DEFAULT_MODES: readonly string[] = ["text/plain", "application/json"];

/** What the agent declares, as a card. It promises only what this server does. */
export function agentCard(agent: Agent, url: string): AgentCard {
  const { provider, iconUrl, documentationUrl, extensions } = agent;
  return {
    name: agent.name,
    description: agent.description,
    version: agent.version,
    interfaces: [{ url, binding: "JSONRPC", protocolVersion: "1.0" }],
    ...(provider !== undefined && { provider }),
    ...(iconUrl !== undefined && { iconUrl }),
    ...(documentationUrl !== undefined && { documentationUrl }),
    capabilities: {
      streaming: agent.capabilities?.streaming ?? true,
      pushNotifications: false,
      ...(extensions !== undefined && extensions.length > 0 && { extensions }),
      ...(agent.extendedCard !== undefined && { extendedAgentCard: true }),
    },
    defaultInputModes: declared(agent.inputModes) ?? DEFAULT_MODES,
    defaultOutputModes: declared(agent.outputModes) ?? DEFAULT_MODES,
    skills: agent.skills === undefined || agent.skills.length === 0 ? [wholeAgent(agent)] : agent.skills.map(skillOf),
  };
}

/** The card for authenticated callers: the public one with what the agent declares for them put over it. */
export function extendedAgentCard(agent: Agent, url: string): AgentCard | undefined {
  return agent.extendedCard === undefined ? undefined : agentCard({ ...agent, ...agent.extendedCard }, url);
}

/** Cards need at least one skill; an agent without any can do one thing, which is what it is for. */
function wholeAgent(agent: Agent): AgentSkill {
  return { id: agent.id, name: agent.name, description: agent.description, tags: [agent.id] };
}

/** Without the parts that are the author's code. */
function skillOf(skill: Skill): AgentSkill {
  const { id, name, description, tags, examples, inputModes, outputModes } = skill;
  return {
    id,
    name,
    description,
    tags: tags.length > 0 ? tags : [id],
    ...(examples !== undefined && { examples }),
    ...(inputModes !== undefined && { inputModes }),
    ...(outputModes !== undefined && { outputModes }),
  };
}

function declared(modes: readonly string[] | undefined): readonly string[] | undefined {
  return modes === undefined || modes.length === 0 ? undefined : modes;
}
