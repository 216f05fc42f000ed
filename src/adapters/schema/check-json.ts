import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";

/** One thing that is wrong with a value. */
export interface JsonIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** Where a value is, and the schema that it must satisfy. */
interface Place {
  readonly path: JsonIssue["path"];
  readonly schema: JsonObject;
}

/** Checks a value by one keyword, whose value in the schema is `rule`. */
type Check = (value: JsonValue, rule: JsonValue, place: Place) => readonly JsonIssue[];

const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isJsonObject,
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
      const member = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      return member === undefined ? [] : issuesOf(member, { schema: objectOf(schema), path: [...path, name] });
    }),
  required: (value, rule, { path }) =>
    listOf(rule)
      .map(String)
      .filter((name) => isJsonObject(value) && !Object.hasOwn(value, name))
      .map((name) => ({ message: "is required", path: [...path, name] })),
  additionalProperties: (value, rule, { path, schema }) => {
    const known = objectOf(schema["properties"]);
    const others = isJsonObject(value) && rule === false ? Object.keys(value) : [];
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
 * What is wrong with a value by the keywords of JSON Schema that forms need. Other keywords are not checked, in particular no regular expression runs: the
 * schema may come from a server that wants to stop this process with one.
 */
export function checkJson(value: JsonValue, schema: JsonObject): readonly JsonIssue[] {
  return issuesOf(value, { schema, path: [] });
}

/** The first thing in a schema that {@link checkJson} does not check: a sentence without its end. `undefined`: it checks everything. */
export function uncheckedIn(schema: JsonValue): string | undefined {
  if (!isJsonObject(schema)) return "a schema must be a JSON object";
  for (const [keyword, rule] of Object.entries(schema)) {
    if (!Object.hasOwn(CHECKS, keyword) && !DESCRIPTIONS.includes(keyword))
      return `the keyword ${JSON.stringify(keyword)} is not supported`;
    for (const inner of schemasIn(keyword, rule)) {
      const problem = uncheckedIn(inner);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function schemasIn(keyword: string, rule: JsonValue): readonly JsonValue[] {
  if (keyword === "properties") return Object.values(objectOf(rule));
  if (keyword === "anyOf") return listOf(rule);
  return keyword === "items" ? [rule] : [];
}

function issuesOf(value: JsonValue, place: Place): readonly JsonIssue[] {
  return Object.entries(place.schema).flatMap(([keyword, rule]) => {
    const check = Object.hasOwn(CHECKS, keyword) ? CHECKS[keyword] : undefined;
    return check?.(value, rule, place) ?? [];
  });
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

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue): readonly JsonValue[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return list;
}
