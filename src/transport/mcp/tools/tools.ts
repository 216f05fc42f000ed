import type { AgentCard, AgentSkill } from "../../../protocol/card.ts";
import { inputSchemaOf } from "../../../protocol/extensions.ts";
import type { JsonObject } from "../../../protocol/json.ts";
import type { McpSettings, TaskSupport, ToolDefinition } from "../contract.ts";
import { ANSWER_TOOL } from "../questions.ts";
import { withValidHeaders } from "./param-headers.ts";
import { type InputForm, MESSAGE_SCHEMA } from "./tool-input.ts";
import { type ToolTarget, toolNames } from "./tool-names.ts";
import { URL_TOOL_NAMES } from "./url-tools.ts";

/** An agent, or one of its skills, as a tool. */
export interface AgentTool extends ToolTarget, InputForm {
  readonly name: string;
  readonly tasks: TaskSupport;
  /** The tool as `tools/list` shows it. */
  readonly definition: ToolDefinition;
}

/** An agent as the tools need it. */
export interface ListedAgent {
  readonly id: string;
  readonly card: AgentCard;
}

/** The tools of these agents. The names are the same in every process that serves the same agents. */
export function toolsOf(agents: readonly ListedAgent[], settings: McpSettings): readonly AgentTool[] {
  const entries = agents.flatMap(({ id, card }) => skillsOf(card, settings).map((skill) => ({ id, card, skill })));
  const targets = entries.map(({ id, card, skill }) => ({
    agent: id,
    skill: card.skills.length > 1 && settings.tools === "skills" ? skill?.id : undefined,
  }));
  const names = toolNames(targets, [ANSWER_TOOL, ...URL_TOOL_NAMES]);
  return entries.map(({ id, card, skill }, index) => {
    const name = names[index] ?? id;
    const schema = skill === undefined ? undefined : inputSchemaOf(card, skill.id);
    const isWrapped = schema !== undefined && schema["type"] !== "object";
    return {
      name,
      agent: id,
      skill: skill?.id,
      tasks: settings.tasks[name] ?? settings.tasks[id] ?? "optional",
      takesData: schema !== undefined,
      isWrapped,
      definition: {
        name,
        title: titleOf(card, skill, targets[index]?.skill !== undefined),
        description: descriptionOf(card, skill),
        inputSchema: inputSchema(schema),
      },
    };
  });
}

/** The skills that are tools; `undefined` stands for the whole agent. */
function skillsOf(card: AgentCard, { tools }: McpSettings): readonly (AgentSkill | undefined)[] {
  if (tools === "skills" && card.skills.length > 1) return card.skills;
  const [only] = card.skills;
  return card.skills.length === 1 && only !== undefined && inputSchemaOf(card, only.id) !== undefined
    ? [only]
    : [undefined];
}

/** The version of JSON Schema in which cards publish schemas. */
const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** The schema of the arguments. Arguments are always an object, so another value is wrapped. */
function inputSchema(schema: JsonObject | undefined): ToolDefinition["inputSchema"] {
  if (schema === undefined) return MESSAGE_SCHEMA;
  if (schema["type"] === "object") return withValidHeaders({ $schema: DRAFT, ...schema, type: "object" });
  return withValidHeaders({ $schema: DRAFT, type: "object", properties: { input: schema }, required: ["input"] });
}

function titleOf(card: AgentCard, skill: AgentSkill | undefined, isOneOfSeveral: boolean): string {
  return skill !== undefined && isOneOfSeveral ? `${card.name}: ${skill.name}` : card.name;
}

/** What the agent and the skill do, with examples. */
function descriptionOf(card: AgentCard, skill: AgentSkill | undefined): string {
  const skills = skill === undefined ? card.skills : [skill];
  const texts = [card.description, ...skills.map(({ description }) => description)];
  const examples = skills.flatMap((each) => each.examples ?? []).slice(0, 5);
  const lines = [...new Set(texts.filter((text) => text !== ""))];
  if (examples.length > 0) lines.push(`Examples: ${examples.map((text) => JSON.stringify(text)).join(", ")}`);
  return lines.join("\n");
}
