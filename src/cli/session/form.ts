import { oneLine } from "../../internal/terminal-text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { typeOf } from "./schema-types.ts";

/** Asks one question on the terminal. `hidden`: what is typed is not shown. `undefined`: the input has ended. */
export type Prompt = (question: string, options?: { readonly hidden?: boolean }) => Promise<string | undefined>;

/** Asks, and shows lines in between. */
export interface Form {
  readonly prompt: Prompt;
  /** Shows a line: the choices of a question, or why an answer does not fit. */
  readonly note: (line: string) => Promise<void> | void;
}

const MAX_FIELDS = 100;
/** More choices than this are not listed one by one. */
const MAX_CHOICES = 30;

/**
 * Asks for the answer to a question on the terminal, by its JSON Schema: an object field by field, anything else at once. Asks again while a field
 * does not have its type; the agent checks the rest. `undefined`: the input has ended.
 */
export async function askBySchema(schema: JsonObject, form: Form): Promise<JsonValue | undefined> {
  const { properties, required } = schema;
  if (!isJsonObject(properties) || Object.keys(properties).length > MAX_FIELDS)
    return askField({ label: "Answer", schema, root: schema, isRequired: true }, form);
  const needed: readonly JsonValue[] = Array.isArray(required) ? required : [];
  const answer = new Map<string, JsonValue>();
  for (const [name, field] of Object.entries(properties)) {
    const asked = {
      label: name,
      schema: isJsonObject(field) ? field : {},
      root: schema,
      isRequired: needed.includes(name),
    };
    const value = await askField(asked, form);
    if (value === undefined && asked.isRequired) return undefined;
    if (value !== undefined) answer.set(name, value);
  }
  return Object.fromEntries(answer);
}

interface Field {
  readonly label: string;
  readonly schema: JsonObject;
  readonly root: JsonObject;
  readonly isRequired: boolean;
}

async function askField({ label, schema, root, isRequired }: Field, form: Form): Promise<JsonValue | undefined> {
  const { description, default: preset, format, writeOnly } = schema;
  const choices = choicesOf(schema);
  const isListed = choices !== undefined && choices.length > 1 && choices.length <= MAX_CHOICES;
  if (isListed) {
    await form.note(`${label}${typeof description === "string" ? `: ${description}` : ""}`);
    for (const [index, { title }] of choices.entries()) await form.note(`  ${index + 1}) ${title}`);
  }
  const details = [
    isListed ? `1-${choices.length}` : schema["type"] === "boolean" ? "yes or no" : typeOf(schema, root),
    ...(typeof description === "string" && !isListed ? [description] : []),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
    ...(isRequired || preset !== undefined ? [] : ["optional"]),
  ];
  // The schema comes from the agent: nothing of it may control the terminal.
  const question = oneLine(`${label} (${details.join("; ")}): `);
  const hidden = format === "password" || writeOnly === true;
  for (;;) {
    const line = await form.prompt(question, { hidden });
    if (line === undefined) return undefined;
    if (line.trim() === "" && (!isRequired || preset !== undefined)) return preset;
    const value = choices === undefined ? parsedValue(line, schema) : chosen(line, choices);
    if (value !== undefined) return value;
    await form.note(
      choices === undefined ? `This must be ${wanted(schema, root)}.` : "This is not one of the choices.",
    );
  }
}

/** A value that may be chosen, and its name. */
interface Choice {
  readonly value: JsonValue;
  readonly title: string;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The values of `enum`, `const`, or of a list of constants with titles (`oneOf`, `anyOf`); `undefined`: the schema has no choices. */
function choicesOf({ enum: values, const: constant, oneOf, anyOf }: JsonObject): readonly Choice[] | undefined {
  if (isList(values)) return values.map((value) => ({ value, title: nameOf(value) }));
  if (constant !== undefined) return [{ value: constant, title: nameOf(constant) }];
  const listed = [oneOf, anyOf].filter(isList).find((list) => list.length > 0);
  if (listed === undefined) return undefined;
  const choices = listed.flatMap((item): Choice[] => {
    const value = isJsonObject(item) ? item["const"] : undefined;
    const title = isJsonObject(item) ? item["title"] : undefined;
    return value === undefined ? [] : [{ value, title: typeof title === "string" ? title : nameOf(value) }];
  });
  return choices.length === listed.length ? choices : undefined;
}

function nameOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The choice by its value, its name in any case, its number, or the only one that begins so. */
function chosen(line: string, choices: readonly Choice[]): JsonValue | undefined {
  const text = line.trim();
  const low = text.toLowerCase();
  const exact = choices.find(({ value }) => value === text || JSON.stringify(value) === text);
  const named = choices.find(({ title, value }) => [title, nameOf(value)].some((name) => name.toLowerCase() === low));
  const numbered = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
  const begun = low === "" ? [] : choices.filter(({ title }) => title.toLowerCase().startsWith(low));
  return (exact ?? named ?? numbered ?? (begun.length === 1 ? begun[0] : undefined))?.value;
}

/** What a field needs, in words. */
function wanted(schema: JsonObject, root: JsonObject): string {
  const { type } = schema;
  if (type === "integer") return "a whole number";
  if (type === "number") return "a number";
  if (type === "boolean") return "yes or no";
  if (type === "array") return "a JSON list, such as [1, 2]";
  return type === "object" ? "a JSON object" : typeOf(schema, root);
}

/** The value that the line stands for; `undefined` if it does not have the type of the schema. */
function parsedValue(line: string, { type }: JsonObject): JsonValue | undefined {
  const text = line.trim();
  if (type === "string") return line;
  const parsed = parsedJson(text);
  if (type === "boolean")
    return { y: true, yes: true, n: false, no: false }[text.toLowerCase()] ?? onlyIf(parsed, "boolean");
  if (type === "integer") return Number.isInteger(parsed) ? parsed : undefined;
  if (type === "number") return onlyIf(parsed, "number");
  if (type === "array") return Array.isArray(parsed) ? parsed : undefined;
  if (type === "object") return isJsonObject(parsed) ? parsed : undefined;
  return parsed ?? line;
}

function onlyIf(value: JsonValue | undefined, type: "boolean" | "number"): JsonValue | undefined {
  return typeof value === type ? value : undefined;
}

function parsedJson(text: string): JsonValue | undefined {
  try {
    // Safe cast: `JSON.parse` returns a JSON value.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
