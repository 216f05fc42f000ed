import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject, JsonValue } from "../../../protocol/json.ts";
import { processFailure } from "../process-failure.ts";

/** One thing that is wrong with an answer. */
interface Issue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** Where a value is in the answer, and the schema that it must satisfy. */
interface Place {
  readonly path: Issue["path"];
  readonly schema: JsonObject;
}

/** Checks a value by one keyword, whose value in the schema is `rule`. */
type Check = (value: JsonValue, rule: JsonValue, place: Place) => readonly Issue[];

const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isObject,
};

const CHECKS: Readonly<Record<string, Check>> = {
  type: (value, rule, { path }) => {
    const names = (Array.isArray(rule) ? rule : [rule]).map(String);
    return names.some((name) => TYPES[name]?.(value)) ? [] : [{ message: `must be ${names.join(" or ")}`, path }];
  },
  enum: (value, rule, { path }) => {
    const allowed = listOf(rule).map((one) => JSON.stringify(one));
    return allowed.includes(JSON.stringify(value)) ? [] : [{ message: `must be one of ${allowed.join(", ")}`, path }];
  },
  const: (value, rule, { path }) =>
    JSON.stringify(value) === JSON.stringify(rule) ? [] : [{ message: `must be ${JSON.stringify(rule)}`, path }],
  anyOf: (value, rule, { path }) => {
    const isAny = listOf(rule).some((one) => issuesOf(value, { schema: objectOf(one), path }).length === 0);
    return isAny ? [] : [{ message: "must have one of the described forms", path }];
  },
  properties: (value, rule, { path }) =>
    Object.entries(objectOf(rule)).flatMap(([name, schema]) => {
      const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      return member === undefined ? [] : issuesOf(member, { schema: objectOf(schema), path: [...path, name] });
    }),
  required: (value, rule, { path }) =>
    listOf(rule)
      .map(String)
      .filter((name) => isObject(value) && !Object.hasOwn(value, name))
      .map((name) => ({ message: "is required", path: [...path, name] })),
  additionalProperties: (value, rule, { path, schema }) => {
    const known = objectOf(schema["properties"]);
    const others = isObject(value) && rule === false ? Object.keys(value) : [];
    return others
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) => ({ message: "is not expected", path: [...path, name] }));
  },
  items: (value, rule, { path }) =>
    listOf(value).flatMap((one, index) => issuesOf(one, { schema: objectOf(rule), path: [...path, index] })),
  minItems: limit(itemsOf, (size, bound) => size >= bound, "must have at least this many items:"),
  maxItems: limit(itemsOf, (size, bound) => size <= bound, "must have at most this many items:"),
  minLength: limit(charactersOf, (size, bound) => size >= bound, "must have at least this many characters:"),
  maxLength: limit(charactersOf, (size, bound) => size <= bound, "must have at most this many characters:"),
  minimum: limit(numberOf, (number, bound) => number >= bound, "must be at least"),
  maximum: limit(numberOf, (number, bound) => number <= bound, "must be at most"),
  exclusiveMinimum: limit(numberOf, (number, bound) => number > bound, "must be more than"),
  exclusiveMaximum: limit(numberOf, (number, bound) => number < bound, "must be less than"),
};

/** Keywords that describe and do not restrict. */
const DESCRIPTIONS: readonly string[] = ["$schema", "title", "description", "default", "examples", "format"];

/**
 * The Standard Schema of a JSON Schema that a program has written. It supports the keywords that forms need; for any other keyword it throws a `TaskFailure`,
 * so that no answer is accepted that the program believes to be checked.
 */
export function answerSchema(schema: JsonObject): StandardSchemaV1<JsonValue> {
  requireSupported(schema);
  return {
    "~standard": {
      version: 1,
      vendor: "palaver",
      validate(input) {
        // Safe cast: an answer is JSON.
        const value = input as JsonValue;
        const issues = issuesOf(value, { schema, path: [] });
        return issues.length > 0 ? { issues } : { value };
      },
    },
  };
}

function issuesOf(value: JsonValue, place: Place): readonly Issue[] {
  return Object.entries(place.schema).flatMap(([keyword, rule]) => CHECKS[keyword]?.(value, rule, place) ?? []);
}

function requireSupported(schema: JsonValue): void {
  if (!isObject(schema)) refuse("a schema must be a JSON object");
  for (const [keyword, rule] of Object.entries(schema)) {
    if (!Object.hasOwn(CHECKS, keyword) && !DESCRIPTIONS.includes(keyword))
      refuse(`the keyword ${JSON.stringify(keyword)} is not supported`);
    if (keyword === "properties") for (const one of Object.values(objectOf(rule))) requireSupported(one);
    if (keyword === "anyOf") for (const one of listOf(rule)) requireSupported(one);
    if (keyword === "items") requireSupported(rule);
  }
}

function refuse(problem: string): never {
  throw processFailure("process-schema-invalid", `The program asked with an invalid schema: ${problem}.`);
}

function limit(
  measure: (value: JsonValue) => number | undefined,
  isWithin: (measured: number, bound: number) => boolean,
  rule: string,
): Check {
  return (value, bound, { path }) => {
    const measured = measure(value);
    const isValid = measured === undefined || isWithin(measured, Number(bound));
    return isValid ? [] : [{ message: `${rule} ${Number(bound)}`, path }];
  };
}

function itemsOf(value: JsonValue): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

/** Code points, as JSON Schema counts them. */
function charactersOf(value: JsonValue): number | undefined {
  return typeof value === "string" ? Array.from(value).length : undefined;
}

function numberOf(value: JsonValue): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: JsonValue): readonly JsonValue[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return list;
}
