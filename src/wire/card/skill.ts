import type { AgentSkill } from "../../protocol/card.ts";

/** The public members of a skill, without `security`. Other members of the author's object are not published. */
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
