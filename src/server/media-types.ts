import type { Agent, Skill } from "../engine/agent/agent.ts";
import { A2AError } from "../protocol/error.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import { DEFAULT_MODES } from "./card.ts";

/**
 * Refuses a message the agent cannot read or cannot answer, before anything is made of it. An agent that declares no input
 * modes reads anything; declared ones bind. A part without media type counts as plain text or JSON; a file without one is
 * let through, since it claims nothing.
 */
export function checkMediaTypes(agent: Agent, request: SendRequest): void {
  const skill = namedSkill(agent, request);
  const inputs = inputModes(agent, skill);
  if (inputs !== undefined) {
    for (const [index, part] of request.message.parts.entries()) {
      const type = mediaTypeOf(part);
      if (type !== undefined && !inputs.some((mode) => compatible(mode, type))) {
        throw refusal(`This agent does not read ${type}; it reads ${inputs.join(", ")}`, `message.parts[${index}]`);
      }
    }
  }
  if (request.outputModes.length === 0) return;
  const outputs = outputModes(agent, skill);
  if (!request.outputModes.some((accepted) => outputs.some((mode) => compatible(mode, accepted)))) {
    throw refusal(
      `This agent produces ${outputs.join(", ")}, none of which is accepted`,
      "configuration.acceptedOutputModes",
    );
  }
}

function refusal(message: string, field: string): A2AError {
  return new A2AError("content-type-not-supported", message, { metadata: { field } });
}

/** The skill the caller names in the metadata of the message or the request. */
function namedSkill(agent: Agent, request: SendRequest): Skill | undefined {
  const id = request.message.metadata?.["skillId"] ?? request.metadata["skillId"];
  return id === undefined ? undefined : agent.skills?.find((skill) => skill.id === id);
}

function inputModes(agent: Agent, skill: Skill | undefined): readonly string[] | undefined {
  if (skill !== undefined) return skill.inputModes ?? agent.inputModes;
  if (agent.inputModes === undefined) return undefined;
  // Which skill will take the message is not known yet: what any of them reads is let through.
  return [...agent.inputModes, ...(agent.skills ?? []).flatMap((other) => other.inputModes ?? [])];
}

function outputModes(agent: Agent, skill: Skill | undefined): readonly string[] {
  const own = agent.outputModes ?? DEFAULT_MODES;
  if (skill !== undefined) return skill.outputModes ?? own;
  return [...own, ...(agent.skills ?? []).flatMap((other) => other.outputModes ?? [])];
}

function mediaTypeOf(part: Part): string | undefined {
  if (part.mediaType !== undefined) return part.mediaType;
  if (part.text !== undefined) return "text/plain";
  return part.data !== undefined ? "application/json" : undefined;
}

/** Whether two media types or ranges have a type in common. Parameters are not looked at. */
export function compatible(one: string, other: string): boolean {
  const [type, subtype] = rangeOf(one);
  const [otherType, otherSubtype] = rangeOf(other);
  return matches(type, otherType) && matches(subtype, otherSubtype);
}

/** What modes mean, by their text: agents declare few and callers repeat themselves. Bounded, since callers may send anything. */
const RANGES = new Map<string, readonly [string, string]>();
const MAX_RANGES = 1000;

function rangeOf(mode: string): readonly [string, string] {
  const known = RANGES.get(mode);
  if (known !== undefined) return known;
  const range = parseRange(mode);
  if (RANGES.size < MAX_RANGES && mode.length < 100) RANGES.set(mode, range);
  return range;
}

function parseRange(mode: string): readonly [string, string] {
  const [range = ""] = mode.toLowerCase().split(";", 1);
  const [type = "", subtype] = range.trim().split("/", 2);
  // "text" for plain text is how early agents put it.
  return [type, subtype ?? (type === "text" ? "plain" : "*")];
}

function matches(one: string, other: string): boolean {
  return one === other || one === "*" || other === "*";
}
