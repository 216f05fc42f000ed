import { callLimitProblems } from "./call-limits.ts";
import { isRecord, isText, isUrl } from "./declared-value.ts";
import type { AgentDefinition, Skill } from "./definition.ts";
import { schemeProblems, securityProblems } from "./security-problems.ts";

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?:\s*;.*)?$/;

/**
 * The problems of a definition, one sentence each, which says how to fix it; empty if the definition is valid. Checks the types as well, because a
 * definition may come from a JSON file.
 */
export function definitionProblems(definition: AgentDefinition, id: string): readonly string[] {
  const problems = nonEmptyTexts("", definition, ["name", "description", "version"]);
  if (problems.length > 0) return problems;
  if (!ID.test(id))
    problems.push(`\`id\` ${JSON.stringify(id)} must be 1–64 letters, digits, dots, dashes or underscores.`);
  const listed: unknown = definition.skills ?? [];
  if (!Array.isArray(listed)) return [...problems, "`skills` must be a list."];
  problems.push(
    ...(definition.defaultProjectId === undefined ? [] : nonEmptyTexts("", definition, ["defaultProjectId"])),
    ...handlingProblems(definition),
    ...skillProblems(definition),
    ...modeProblems("", definition),
    ...extensionProblems(definition.extensions),
    ...linkProblems(definition),
    ...capabilityProblems(definition.capabilities),
    ...schemeProblems(definition.securitySchemes),
    ...securityProblems("security", definition.security, definition.securitySchemes),
    ...policyProblems(definition),
    ...callLimitProblems("calls", definition.calls),
  );
  return problems.length > 0 ? problems : extendedProblems(definition, id);
}

function handlingProblems({ run, reply, skills = [] }: AgentDefinition): readonly string[] {
  const isHandled = skills.length > 0 && skills.every((skill) => isRecord(skill) && skill.run !== undefined);
  if (run !== undefined || reply !== undefined || isHandled) return [];
  return ["give it a `run(task)`, a `reply(message)`, or skills that each have their own `run`."];
}

function skillProblems({ skills = [], securitySchemes }: AgentDefinition): readonly string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [index, skill] of skills.entries()) {
    const place = `skills[${index}]`;
    if (!isRecord(skill)) {
      problems.push(`\`${place}\` must be an object.`);
      continue;
    }
    problems.push(...nonEmptyTexts(`${place}.`, skill, ["id", "name", "description"]));
    if (seen.has(skill.id)) problems.push(`\`${place}.id\` ${JSON.stringify(skill.id)} is used twice.`);
    seen.add(skill.id);
    for (const [field, value] of Object.entries({ tags: skill.tags, examples: skill.examples ?? [] })) {
      if (!isListOf(value, isString)) problems.push(`\`${place}.${field}\` must be a list of strings.`);
    }
    problems.push(
      ...modeProblems(`${place}.`, skill),
      ...jsonSchemaProblems(place, skill),
      ...securityProblems(`${place}.security`, skill.security, securitySchemes),
    );
  }
  return problems;
}

function jsonSchemaProblems(place: string, { input, jsonSchema }: Skill): readonly string[] {
  if (jsonSchema === undefined) return [];
  if (input === undefined) return [`\`${place}.jsonSchema\` needs \`${place}.input\`.`];
  try {
    const converted: unknown = typeof jsonSchema === "function" ? jsonSchema(input) : jsonSchema;
    return isRecord(converted) ? [] : [`\`${place}.jsonSchema\` must be an object, or a function that returns one.`];
  } catch (error) {
    return [`\`${place}.jsonSchema\` throws: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function modeProblems(place: string, modes: { readonly inputModes?: unknown; readonly outputModes?: unknown }) {
  return (["inputModes", "outputModes"] as const).flatMap((field) => {
    const value = modes[field];
    if (value === undefined) return [];
    if (!Array.isArray(value)) return [`\`${place}${field}\` must be a list.`];
    return value.flatMap((mode: unknown, index) =>
      isText(mode) && MEDIA_TYPE.test(mode)
        ? []
        : [
            `\`${place}${field}[${index}]\` ${JSON.stringify(mode)} must be a media type such as "text/plain" or "image/*".`,
          ],
    );
  });
}

function extensionProblems(extensions: unknown): readonly string[] {
  if (extensions === undefined) return [];
  if (!Array.isArray(extensions)) return ["`extensions` must be a list."];
  const seen = new Set<unknown>();
  return extensions.flatMap((extension: unknown, index) => {
    const place = `extensions[${index}]`;
    if (!isRecord(extension) || !isText(extension["uri"])) return [`\`${place}.uri\` must be a non-empty string.`];
    const { uri, required, description, params } = extension;
    const problems: string[] = [];
    // The header lists extensions separated by commas.
    if (/[\s,]/.test(uri)) problems.push(`\`${place}.uri\` must not contain spaces or commas.`);
    if (seen.has(uri)) problems.push(`\`${place}.uri\` ${JSON.stringify(uri)} is used twice.`);
    seen.add(uri);
    if (required !== undefined && typeof required !== "boolean")
      problems.push(`\`${place}.required\` must be true or false.`);
    if (description !== undefined && !isString(description))
      problems.push(`\`${place}.description\` must be a string.`);
    if (params !== undefined && !isRecord(params)) problems.push(`\`${place}.params\` must be an object.`);
    return problems;
  });
}

function linkProblems({ provider, iconUrl, documentationUrl }: AgentDefinition): readonly string[] {
  const problems: string[] = [];
  for (const [field, value] of Object.entries({ iconUrl, documentationUrl })) {
    if (value !== undefined && !isUrl(value)) problems.push(`\`${field}\` must be an absolute URL.`);
  }
  if (provider !== undefined && !(isRecord(provider) && isText(provider.organization) && isUrl(provider.url)))
    problems.push("`provider` must be `{ organization, url }`, the `url` an absolute URL.");
  return problems;
}

function capabilityProblems(capabilities: unknown): readonly string[] {
  if (capabilities === undefined) return [];
  if (!isRecord(capabilities)) return ["`capabilities` must be an object."];
  const wrong = Object.entries(capabilities).filter(([, value]) => value !== undefined && typeof value !== "boolean");
  return wrong.map(([name]) => `\`capabilities.${name}\` must be true or false.`);
}

function policyProblems(definition: AgentDefinition): readonly string[] {
  const { maxAttempts = 1 } = definition;
  const attempts =
    Number.isInteger(maxAttempts) && maxAttempts >= 1 ? [] : ["`maxAttempts` must be a whole number of at least 1."];
  const amounts = (
    [
      ["timeout", 0],
      ["queue", 0],
      ["concurrency", 1],
    ] as const
  ).flatMap(([field, least]) => {
    const value = definition[field];
    return value === undefined || value >= least ? [] : [`\`${field}\` must be a number of at least ${least}.`];
  });
  return [...attempts, ...amounts];
}

/** The extended card must be valid together with the members of the public card. */
function extendedProblems({ extendedCard, ...definition }: AgentDefinition, id: string): readonly string[] {
  if (extendedCard === undefined || typeof extendedCard === "function") return [];
  if (!isRecord(extendedCard)) return ["`extendedCard` must be an object or a function that returns one."];
  return definitionProblems({ ...definition, ...extendedCard }, id).map((problem) => `In \`extendedCard\`: ${problem}`);
}

function nonEmptyTexts(place: string, holder: object, fields: readonly string[]): string[] {
  return fields
    .filter((field) => !isText(Reflect.get(holder, field)))
    .map((field) => `\`${place}${field}\` must be a non-empty string.`);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
