import type { Agent, Skill } from "../engine/agent/agent.ts";
import { A2AError } from "../protocol/error.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import { DEFAULT_MODES } from "./card.ts";

/**
 * Throws `content-type-not-supported` if the agent cannot read the message, or cannot answer in an accepted output mode. An agent without
 * declared input modes reads everything. A part without media type counts as plain text or JSON; a file without one is accepted, because
 * its type is unknown.
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
      `This agent produces ${outputs.join(", ")}; the request accepts none of these`,
      "configuration.acceptedOutputModes",
    );
  }
}

function refusal(message: string, field: string): A2AError {
  return new A2AError("content-type-not-supported", message, { metadata: { field } });
}

/** The skill that the caller selects by `skillId` in the metadata of the message or the request. */
function namedSkill(agent: Agent, request: SendRequest): Skill | undefined {
  const id = request.message.metadata?.["skillId"] ?? request.metadata["skillId"];
  return id === undefined ? undefined : agent.skills?.find((skill) => skill.id === id);
}

function inputModes(agent: Agent, skill: Skill | undefined): readonly string[] | undefined {
  if (skill !== undefined) return skill.inputModes ?? agent.inputModes;
  if (agent.inputModes === undefined) return undefined;
  // The skill is not known yet: accept everything that any skill reads.
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

/** True if two media types or ranges have a type in common. Ignores parameters. */
export function compatible(one: string, other: string): boolean {
  const [type, subtype] = rangeOf(one);
  const [otherType, otherSubtype] = rangeOf(other);
  return matches(type, otherType) && matches(subtype, otherSubtype);
}

/** Parsed modes by their text, since few different ones occur. Bounded, because callers may send anything. */
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
  // Early agents write "text" for plain text.
  return [type, subtype ?? (type === "text" ? "plain" : "*")];
}

function matches(one: string, other: string): boolean {
  return one === other || one === "*" || other === "*";
}
