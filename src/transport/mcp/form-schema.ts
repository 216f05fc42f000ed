import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

/** A form for one question, and how to read the answer out of it. */
export interface AnswerForm {
  /** A flat object schema, as MCP allows it for elicitation. */
  readonly schema: JsonObject;
  /** The answer in the content of a filled form; `undefined` if the content has none. */
  read(content: JsonObject): Part | undefined;
}

/** The field of a form that asks for one value. */
const ANSWER = "answer";
const PRIMITIVES: readonly unknown[] = ["string", "number", "integer", "boolean"];
/** The members of a property that MCP allows in forms. */
const STRING_FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"];
const KEPT = ["title", "description", "default", "minimum", "maximum", "minLength", "maxLength", "enum", "enumNames"];

/**
 * The form for a question. An object of plain values is shown as it is; a single value gets one field. Forms of MCP cannot show anything else, so other
 * schemas are asked for as JSON text.
 */
export function answerForm(schema: JsonObject | undefined): AnswerForm {
  if (schema === undefined) return single({ type: "string" }, textPart);
  if (schema["type"] === "object") {
    const flat = flatObject(schema);
    if (flat !== undefined) return { schema: flat, read: (data) => ({ data }) };
  }
  const field = fieldOf(schema);
  if (field !== undefined) return single(field, valuePart);
  const description = `JSON that fits this schema: ${JSON.stringify(schema)}`.slice(0, 2000);
  return single({ type: "string", description }, jsonPart);
}

function single(field: JsonObject, partOf: (value: JsonValue) => Part | undefined): AnswerForm {
  return {
    schema: { type: "object", properties: { [ANSWER]: field }, required: [ANSWER] },
    read: (content) => {
      // A client may name the field otherwise; the only value is meant.
      const values = Object.values(content);
      const value = Object.hasOwn(content, ANSWER) ? content[ANSWER] : values.length === 1 ? values[0] : undefined;
      return value === undefined ? undefined : partOf(value);
    },
  };
}

function flatObject(schema: JsonObject): JsonObject | undefined {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return undefined;
  const fields: [string, JsonObject][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const field = isJsonObject(property) ? fieldOf(property) : undefined;
    if (field === undefined) return undefined;
    fields.push([name, field]);
  }
  if (fields.length === 0) return undefined;
  return {
    type: "object",
    properties: Object.fromEntries(fields),
    ...(Array.isArray(required) && { required: required.filter((name) => typeof name === "string") }),
  };
}

/** A property of a form; `undefined` if forms cannot show it. */
function fieldOf(schema: JsonObject): JsonObject | undefined {
  const { type, format, oneOf, items } = schema;
  const kept = Object.fromEntries(KEPT.flatMap((name) => (Object.hasOwn(schema, name) ? [[name, schema[name]]] : [])));
  if (Array.isArray(schema["enum"])) {
    if (!schema["enum"].every((value) => typeof value === "string")) return undefined;
    return withoutUndefined({ type: "string", ...kept });
  }
  if (type === "string" && isTitled(oneOf)) return withoutUndefined({ type, ...kept, oneOf });
  if (type === "array" && isJsonObject(items)) {
    const isChoice = Array.isArray(items["enum"]) || isTitled(items["anyOf"]);
    return isChoice ? withoutUndefined({ type, ...kept, ...countsOf(schema), items }) : undefined;
  }
  if (!PRIMITIVES.includes(type)) return undefined;
  return withoutUndefined({ type, ...kept, ...(STRING_FORMATS.includes(format) && { format }) });
}

function countsOf({ minItems, maxItems }: JsonObject): JsonObject {
  return withoutUndefined({ minItems, maxItems });
}

/** A list of choices with titles. */
function isTitled(value: JsonValue | undefined): value is JsonValue[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (entry) => isJsonObject(entry) && typeof entry["const"] === "string" && typeof entry["title"] === "string",
    )
  );
}

function withoutUndefined(record: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function textPart(value: JsonValue): Part {
  return { text: typeof value === "string" ? value : JSON.stringify(value) };
}

function valuePart(value: JsonValue): Part {
  return typeof value === "string" ? { text: value } : { data: value };
}

/** The parsed JSON; the text itself if it is none, so that the agent reports the problem. */
function jsonPart(value: JsonValue): Part {
  if (typeof value !== "string") return { data: value };
  try {
    // Safe cast: the result of `JSON.parse` is JSON.
    return { data: JSON.parse(value) as JsonValue };
  } catch {
    return { text: value };
  }
}
