import type { AgentSkill } from "../../protocol/card.ts";

/** A skill member by member, but for what it requires: what an author's skill holds besides is nobody else's business. */
export function publicSkill(skill: AgentSkill): Omit<AgentSkill, "security"> {
  const { id, name, description, tags, examples, inputModes, outputModes } = skill;
  return {
    id,
    name,
    description,
    tags,
    ...(examples !== undefined && { examples }),
    ...(inputModes !== undefined && { inputModes }),
    ...(outputModes !== undefined && { outputModes }),
  };
}
