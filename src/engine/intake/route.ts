import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Agent, ReplyCall, Skill } from "../agent/agent.ts";
import { dataOf } from "../agent/output.ts";
import type { SubmittedRequest } from "../api.ts";
import { answersIn, firstAccepted, structuredIn, validateRaw } from "../run/questions/answer.ts";

/** What handles a message: the agent's own `run`, one of its skills, or nothing, with a reason that the caller reads. */
export type Routed =
  | { readonly kind: "agent" }
  | {
      readonly kind: "skill";
      readonly skill: Skill;
      /** The output of the skill's schema for the message's data; the data itself if the skill has no schema. */
      readonly data: unknown;
    }
  | { readonly kind: "none"; readonly reason: string };

const MAX_LISTED = 20;
const MAX_QUOTED = 100;

/**
 * Routes a message. The first rule that applies wins:
 *
 * 1. the skill that `skillId` names, in the metadata of the message or of the request;
 * 2. the only skill whose schema accepts the message's data (or its text as JSON);
 * 3. the skill that the agent's `route` returns;
 * 4. the agent's own `run`;
 * 5. the only skill without a schema.
 *
 * `call` creates what the agent's `route` gets to see of the call. Rejects only if the agent's `route` throws or returns the id of an unknown skill.
 */
export function routeMessage(
  agent: Agent,
  request: Pick<SubmittedRequest, "message" | "metadata">,
  call: () => ReplyCall,
): Routed | Promise<Routed> {
  if (agent.skills !== undefined && agent.skills.length > 0) return routeToSkill(agent, request, call);
  return agent.run === undefined ? unhandled("This agent accepts no tasks.") : TO_AGENT;
}

const TO_AGENT: Routed = { kind: "agent" };

async function routeToSkill(
  agent: Agent,
  { message, metadata }: Pick<SubmittedRequest, "message" | "metadata">,
  call: () => ReplyCall,
): Promise<Routed> {
  const skills = agent.skills ?? [];
  const named = skillIdIn(message.metadata) ?? skillIdIn(metadata);
  if (named !== undefined && named !== null) {
    const skill = skills.find(({ id }) => id === named);
    if (skill === undefined) return unhandled(`Unknown skill ${quote(named)}; the agent has ${listIds(skills)}.`);
    return enterSkill(agent, skill, message);
  }

  const survey = await fitSchemas(agent, skills, message);
  const [fit] = survey.fits;
  if (fit !== undefined && survey.fits.length === 1) return fit;

  const chosen = await agent.route?.(message, call());
  if (chosen !== undefined) {
    const skill = skills.find(({ id }) => id === chosen);
    if (skill === undefined) throw new Error(`route() of agent "${agent.id}" returned the unknown skill "${chosen}".`);
    return enterSkill(agent, skill, message);
  }
  if (agent.run !== undefined) return TO_AGENT;

  const open = skills.filter((skill) => skill.input === undefined && skill.run !== undefined);
  const [only] = open;
  if (only !== undefined && open.length === 1 && survey.fits.length === 0) return enterSkill(agent, only, message);
  return unhandled(explainNoMatch(skills, survey));
}

async function enterSkill(agent: Agent, skill: Skill, message: Message): Promise<Routed> {
  const id = JSON.stringify(skill.id);
  if (!isHandled(agent, skill)) return unhandled(`Skill ${id} accepts no tasks.`);
  if (skill.input === undefined) {
    return { kind: "skill", skill, data: dataOf(message.parts) };
  }
  // The caller chose the skill, so the plain text is tried, too: the schema may accept a string.
  const checked = await firstAccepted(skill.input, answersIn(message));
  if (!checked.ok) return unhandled(`Skill ${id} does not accept this message: ${checked.problem}`);
  return { kind: "skill", skill, data: checked.value };
}

function isHandled(agent: Agent, skill: Skill): boolean {
  return skill.run !== undefined || agent.run !== undefined;
}

interface Survey {
  readonly fits: readonly Extract<Routed, { readonly kind: "skill" }>[];
  /** Why the schema of a skill did not accept the data. */
  readonly problems: ReadonlyMap<Skill, string>;
}

async function fitSchemas(agent: Agent, skills: readonly Skill[], message: Message): Promise<Survey> {
  const fits: Extract<Routed, { readonly kind: "skill" }>[] = [];
  const problems = new Map<Skill, string>();
  const checkable = skills.filter((skill) => skill.input !== undefined && isHandled(agent, skill));
  // Parse the text as JSON only if a schema needs it: parsing costs more than the rest of routing.
  const raw = checkable.length === 0 ? undefined : structuredIn(message);
  for (const skill of checkable) {
    if (skill.input === undefined) continue;
    if (raw === undefined) {
      problems.set(skill, "the message carries no data and its text is not JSON");
      continue;
    }
    const checked = await validateRaw(skill.input, raw);
    if (checked.ok) fits.push({ kind: "skill", skill, data: checked.value });
    else problems.set(skill, checked.problem);
  }
  return { fits, problems };
}

function explainNoMatch(skills: readonly Skill[], survey: Survey): string {
  if (survey.fits.length > 1) {
    const ids = listIds(survey.fits.map((fit) => fit.skill));
    return `Several skills accept this message: ${ids}. Choose one with \`skillId\` in the metadata.`;
  }
  const listed = skills.slice(0, MAX_LISTED).map((skill) => {
    const problem = survey.problems.get(skill);
    const expects =
      problem === undefined ? "accepts any message that names it" : `expects data that fits its schema (${problem})`;
    return `${JSON.stringify(skill.id)} (${skill.name}) ${expects}`;
  });
  if (skills.length > MAX_LISTED) listed.push(`and ${skills.length - MAX_LISTED} more`);
  return `No skill accepts this message. Choose one with \`skillId\` in the metadata, or send data that fits a schema: ${listed.join("; ")}.`;
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

function unhandled(reason: string): Routed {
  return { kind: "none", reason };
}
