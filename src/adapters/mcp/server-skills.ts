import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import type { Skill } from "../../engine/agent/agent.ts";
import { toolSkill } from "../../internal/tool-skill.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { argumentsSchema } from "./arguments-schema.ts";
import { McpServerError } from "./mcp-failure.ts";

/** What an MCP server offers. */
export interface ServerLists {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
}

/** What a skill does at the server. */
export type ServerCall =
  | { readonly kind: "tool"; readonly tool: Tool }
  | { readonly kind: "prompt"; readonly prompt: Prompt }
  | { readonly kind: "resource"; readonly isOffered: (uri: string) => boolean };

export interface ServerSkill {
  readonly skill: Skill;
  readonly call: ServerCall;
}

/** The skills of a server, and what had to be left out. */
export interface ServerSkills {
  readonly skills: readonly ServerSkill[];
  readonly warnings: readonly string[];
}

/** Skills of one server. A card must stay readable. */
const MAX_SKILLS = 256;
const NAME = /^[^\p{Cc}\p{Cf}\s]{1,128}$/u;
const MAX_EXAMPLES = 10;

/** Throws a {@link McpServerError} if two tools, or two prompts, have the same name: it is not known which one a call would reach. */
export function serverSkills(lists: ServerLists): ServerSkills {
  const warnings: string[] = [];
  requireUnique("tools", lists.tools);
  requireUnique("prompts", lists.prompts);
  const byId = new Map<string, ServerSkill>();
  for (const one of [...lists.tools.map(ofTool), ...lists.prompts.map(ofPrompt), ...ofResources(lists)]) {
    const { id } = one.skill;
    if (!NAME.test(id)) warnings.push(`The name ${JSON.stringify(id.slice(0, 128))} is not usable.`);
    else if (byId.has(id)) warnings.push(`The id ${JSON.stringify(id)} is used by a tool already.`);
    else if (byId.size === MAX_SKILLS) warnings.push(`There are more than ${MAX_SKILLS} skills.`);
    else byId.set(id, one);
  }
  return { skills: [...byId.values()], warnings: [...new Set(warnings)] };
}

function requireUnique(what: string, list: readonly { readonly name: string }[]): void {
  const seen = new Set<string>();
  for (const { name } of list) {
    if (seen.has(name))
      throw new McpServerError(
        "mcp-names-collide",
        `The MCP server has two ${what} with the name ${JSON.stringify(name.slice(0, 128))}.`,
      );
    seen.add(name);
  }
}

const MODES = {
  inputModes: ["application/json", "text/plain"],
  outputModes: ["application/json", "text/plain", "*/*"],
};

function skillOf(described: Pick<Skill, "id" | "name" | "description" | "tags">, schema: JsonObject): Skill {
  return { ...described, ...MODES, input: argumentsSchema(schema), jsonSchema: schema };
}

function ofTool(tool: Tool): ServerSkill {
  // Safe cast: the client has parsed it from JSON.
  return { skill: skillOf(toolSkill(tool), tool.inputSchema as JsonObject), call: { kind: "tool", tool } };
}

function ofPrompt(prompt: Prompt): ServerSkill {
  const given = prompt.arguments ?? [];
  const properties = given.map(({ name, description }) => [
    name,
    { type: "string", ...(description !== undefined && { description }) },
  ]);
  const required = given.flatMap(({ name, required: isRequired }) => (isRequired === true ? name : []));
  const schema = { type: "object", properties: Object.fromEntries(properties) as JsonObject, required };
  const { id: _, tags: _tags, ...described } = toolSkill(prompt);
  return {
    skill: skillOf({ ...described, id: `prompt.${prompt.name}`, tags: ["prompt"] }, schema),
    call: { kind: "prompt", prompt },
  };
}

/** One skill for all resources: there may be thousands. */
function ofResources({ resources, templates }: ServerLists): readonly ServerSkill[] {
  if (resources.length === 0 && templates.length === 0) return [];
  const known = new Set(resources.map(({ uri }) => uri));
  const prefixes = templates.map(({ uriTemplate }) => uriTemplate.split("{")[0] ?? "").filter((text) => text !== "");
  const shown = [...known, ...templates.map(({ uriTemplate }) => uriTemplate)];
  const named = shown.slice(0, MAX_EXAMPLES).join(", ");
  const more = shown.length > MAX_EXAMPLES ? ` and ${shown.length - MAX_EXAMPLES} more` : "";
  const schema: JsonObject = {
    type: "object",
    properties: { uri: { type: "string", description: `The URI of a resource: ${named}${more}.` } },
    required: ["uri"],
  };
  const examples = [...known].slice(0, MAX_EXAMPLES).map((uri) => JSON.stringify({ uri }));
  const skill: Skill = {
    ...skillOf(
      {
        id: "read-resource",
        name: "Read Resource",
        description: `Returns the content of a resource: ${named}${more}.`,
        tags: ["resource", "read-only"],
      },
      schema,
    ),
    ...(examples.length > 0 && { examples }),
  };
  const isOffered = (uri: string): boolean => known.has(uri) || prefixes.some((prefix) => uri.startsWith(prefix));
  return [{ skill, call: { kind: "resource", isOffered } }];
}
