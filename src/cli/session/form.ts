import { oneLine } from "../../internal/terminal-text.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { typeOf } from "./schema-types.ts";

/** Asks one question on the terminal. `undefined`: the input has ended. */
export type Prompt = (question: string) => Promise<string | undefined>;

const MAX_FIELDS = 100;

/**
 * Asks for the answer to a question on the terminal, by its JSON Schema: an object field by field, anything else at once. Asks again while a field
 * does not have its type; the agent checks the rest. `undefined`: the input has ended.
 */
export async function askBySchema(schema: JsonObject, prompt: Prompt): Promise<JsonValue | undefined> {
  const { properties, required } = schema;
  if (!isObject(properties) || Object.keys(properties).length > MAX_FIELDS)
    return askField({ label: "Answer", schema, root: schema, isRequired: true }, prompt);
  const needed: readonly JsonValue[] = Array.isArray(required) ? required : [];
  const answer = new Map<string, JsonValue>();
  for (const [name, field] of Object.entries(properties)) {
    const asked = {
      label: name,
      schema: isObject(field) ? field : {},
      root: schema,
      isRequired: needed.includes(name),
    };
    const value = await askField(asked, prompt);
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

async function askField({ label, schema, root, isRequired }: Field, prompt: Prompt): Promise<JsonValue | undefined> {
  const { description, default: preset } = schema;
  const details = [
    typeOf(schema, root),
    ...(typeof description === "string" ? [description] : []),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
    ...(isRequired ? [] : ["optional"]),
  ];
  // The schema comes from the agent: nothing of it may control the terminal.
  const question = oneLine(`${label} (${details.join("; ")}): `);
  for (;;) {
    const line = await prompt(question);
    if (line === undefined) return undefined;
    if (line.trim() === "" && (!isRequired || preset !== undefined)) return preset;
    const value = parsedValue(line, schema);
    if (value !== undefined) return value;
  }
}

/** The value that the line stands for; `undefined` if it does not have the type of the schema. */
function parsedValue(line: string, { type, enum: values, const: constant }: JsonObject): JsonValue | undefined {
  const text = line.trim();
  const allowed: readonly JsonValue[] | undefined = Array.isArray(values)
    ? values
    : constant === undefined
      ? undefined
      : [constant];
  if (allowed !== undefined) return allowed.find((value) => value === text || JSON.stringify(value) === text);
  if (type === "string") return line;
  const parsed = parsedJson(text);
  if (type === "boolean")
    return { y: true, yes: true, n: false, no: false }[text.toLowerCase()] ?? onlyIf(parsed, "boolean");
  if (type === "integer") return Number.isInteger(parsed) ? parsed : undefined;
  if (type === "number") return onlyIf(parsed, "number");
  if (type === "array") return Array.isArray(parsed) ? parsed : undefined;
  if (type === "object") return isObject(parsed) ? parsed : undefined;
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

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
