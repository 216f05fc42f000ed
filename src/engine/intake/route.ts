import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Agent, ReplyCall, Skill } from "../agent/agent.ts";
import { dataOf } from "../agent/output.ts";
import { answersIn, firstAccepted, structuredIn, validateRaw } from "../run/answer.ts";

/** Who handles a message: the agent itself, one of its skills, or nobody, and then why, in words for the caller. */
export type Routed =
  | { readonly kind: "agent" }
  | {
      readonly kind: "skill";
      readonly skill: Skill;
      /** What the skill's schema made of the message's data; the data itself where it has no schema. */
      readonly data: unknown;
      /** What `data` was made of; kept for a replay. */
      readonly raw: JsonValue | undefined;
    }
  | { readonly kind: "none"; readonly reason: string };

const MAX_LISTED = 20;
const MAX_QUOTED = 100;

/**
 * Finds who handles a message. In this order: the skill named by `skillId` in the message's or the request's metadata; the only skill
 * whose schema takes the message's data (or its text as JSON); the one the agent's `route` names; the agent's own `run`; the
 * only skill that takes any message. Rejects only when the agent's `route` fails or names a skill that is not there.
 */
export async function routeMessage(agent: Agent, message: Message, call: ReplyCall): Promise<Routed> {
  const skills = agent.skills ?? [];
  if (skills.length === 0) return agent.run === undefined ? nobody("This agent takes no tasks.") : { kind: "agent" };

  const named = skillIdIn(message.metadata) ?? skillIdIn(call.metadata);
  if (named !== undefined && named !== null) {
    const skill = skills.find(({ id }) => id === named);
    if (skill === undefined) return nobody(`There is no skill ${quote(named)}; there is ${listIds(skills)}.`);
    return enterSkill(agent, skill, message);
  }

  const survey = await fitSchemas(agent, skills, message);
  const [fit] = survey.fits;
  if (fit !== undefined && survey.fits.length === 1) return fit;

  const chosen = await agent.route?.(message, call);
  if (chosen !== undefined) {
    const skill = skills.find(({ id }) => id === chosen);
    if (skill === undefined)
      throw new Error(`route() of agent "${agent.id}" named the skill "${chosen}", which it does not have.`);
    return enterSkill(agent, skill, message);
  }
  if (agent.run !== undefined) return { kind: "agent" };

  const open = skills.filter((skill) => skill.input === undefined && skill.run !== undefined);
  const [only] = open;
  if (only !== undefined && open.length === 1 && survey.fits.length === 0) return enterSkill(agent, only, message);
  return nobody(whatWouldMatch(skills, survey));
}

async function enterSkill(agent: Agent, skill: Skill, message: Message): Promise<Routed> {
  const id = JSON.stringify(skill.id);
  if (!isHandled(agent, skill)) return nobody(`Skill ${id} takes no tasks.`);
  if (skill.input === undefined) {
    const data = dataOf(message.parts);
    return { kind: "skill", skill, data, raw: data };
  }
  // Whoever names the skill may also send the bare text, where its schema takes that.
  const checked = await firstAccepted(skill.input, answersIn(message));
  if (!checked.ok) return nobody(`Skill ${id} does not take this message: ${checked.problem}`);
  return { kind: "skill", skill, data: checked.value, raw: checked.raw };
}

function isHandled(agent: Agent, skill: Skill): boolean {
  return skill.run !== undefined || agent.run !== undefined;
}

interface Survey {
  readonly fits: readonly Extract<Routed, { readonly kind: "skill" }>[];
  /** Why the others refused, by skill. */
  readonly problems: ReadonlyMap<Skill, string>;
}

async function fitSchemas(agent: Agent, skills: readonly Skill[], message: Message): Promise<Survey> {
  const fits: Extract<Routed, { readonly kind: "skill" }>[] = [];
  const problems = new Map<Skill, string>();
  const checkable = skills.filter((skill) => skill.input !== undefined && isHandled(agent, skill));
  // Most agents have no schemas, and reading a text as JSON that is none costs more than the rest of routing.
  const raw = checkable.length === 0 ? undefined : structuredIn(message);
  for (const skill of checkable) {
    if (skill.input === undefined) continue;
    if (raw === undefined) {
      problems.set(skill, "the message carries no data and its text is not JSON");
      continue;
    }
    const checked = await validateRaw(skill.input, raw);
    if (checked.ok) fits.push({ kind: "skill", skill, data: checked.value, raw });
    else problems.set(skill, checked.problem);
  }
  return { fits, problems };
}

function whatWouldMatch(skills: readonly Skill[], survey: Survey): string {
  if (survey.fits.length > 1) {
    const ids = listIds(survey.fits.map((fit) => fit.skill));
    return `Several skills take this message: ${ids}. Name one as \`skillId\` in the metadata.`;
  }
  const listed = skills.slice(0, MAX_LISTED).map((skill) => {
    const problem = survey.problems.get(skill);
    const expects = problem === undefined ? "takes any message that names it" : `expects data of its form (${problem})`;
    return `${JSON.stringify(skill.id)} (${skill.name}) ${expects}`;
  });
  if (skills.length > MAX_LISTED) listed.push(`and ${skills.length - MAX_LISTED} more`);
  return `No skill takes this message. Name one as \`skillId\` in the metadata, or send data that fits: ${listed.join("; ")}.`;
}

function listIds(skills: readonly Skill[]): string {
  const ids = skills.slice(0, MAX_LISTED).map(({ id }) => JSON.stringify(id));
  if (skills.length > MAX_LISTED) ids.push(`${skills.length - MAX_LISTED} more`);
  return ids.join(", ");
}

function skillIdIn(metadata: JsonObject | undefined): JsonValue | undefined {
  const { skillId }: JsonObject = metadata ?? {};
  return skillId;
}

function quote(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}

function nobody(reason: string): Routed {
  return { kind: "none", reason };
}
