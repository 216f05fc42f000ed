import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.ts";

/** The member of a property's schema by which a tool asks for the property in a header as well. */
const ANNOTATION = "x-mcp-header";
const PREFIX = "Mcp-Param-";
/** Names of HTTP fields. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<JsonValue | undefined> = new Set(["string", "integer", "boolean"]);

/** An argument that clients repeat in a header, so that proxies can route by it. */
export interface ParamHeader {
  /** `Mcp-Param-` and the name that the schema gives. */
  readonly header: string;
  /** The names of the properties that lead to the argument. */
  readonly path: readonly string[];
}

/** The headers that the schema of a tool asks for; `undefined` if an annotation breaks a rule, because clients then ignore the tool. */
export function paramHeadersOf(schema: JsonObject): readonly ParamHeader[] | undefined {
  const found = annotatedProperties(schema, []);
  const names = found.map(({ header }) => header.toLowerCase());
  const isValid = new Set(names).size === names.length && found.length === annotationsIn(schema);
  return isValid ? found : undefined;
}

/** The schema without its annotations if one of them breaks a rule: clients would leave the tool out. */
export function withValidHeaders<T extends JsonObject>(schema: T): T {
  // Safe cast: only members that no schema needs are left out.
  return paramHeadersOf(schema) === undefined ? (withoutAnnotations(schema, true) as T) : schema;
}

/** Valid annotations of properties that only `properties` lead to. */
function annotatedProperties({ properties }: JsonObject, path: readonly string[]): readonly ParamHeader[] {
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isJsonObject(property)) return [];
    const place = [...path, name];
    const { [ANNOTATION]: given, type } = property;
    const isValid = typeof given === "string" && TOKEN.test(given) && TYPES.has(type);
    return [
      ...(isValid ? [{ header: `${PREFIX}${given}`, path: place }] : []),
      ...annotatedProperties(property, place),
    ];
  });
}

/** Members whose value is no schema: what is in them is no annotation. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);
/** Members that have schemas by names. A name may be that of the annotation. */
const MAPS: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"],
]);

/** How many annotations there are, also in places where none may be. */
function annotationsIn(value: JsonValue, isSchema = true): number {
  if (isList(value)) return value.reduce<number>((sum, item) => sum + annotationsIn(item), 0);
  if (!isJsonObject(value)) return 0;
  return Object.entries(value).reduce((sum, [key, member]) => {
    if (isSchema && key === ANNOTATION) return sum + 1;
    return isSchema && VALUES.has(key) ? sum : sum + annotationsIn(member, !(isSchema && MAPS.has(key)));
  }, 0);
}

function withoutAnnotations(value: JsonValue, isSchema: boolean): JsonValue {
  if (isList(value)) return value.map((item) => withoutAnnotations(item, true));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !isSchema || key !== ANNOTATION);
  return Object.fromEntries(
    kept.map(([key, member]) => {
      if (isSchema && VALUES.has(key)) return [key, member];
      return [key, withoutAnnotations(member, !(isSchema && MAPS.has(key)))];
    }),
  );
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export interface SentArguments {
  readonly args: JsonObject;
  /** A header of the request. */
  readonly header: (name: string) => string | undefined;
}

/** What is wrong with the headers of a call; `undefined` if each repeats its argument. Headers of arguments that are absent are ignored. */
export function headerProblem(headers: readonly ParamHeader[], { args, header }: SentArguments): string | undefined {
  for (const { header: name, path } of headers) {
    const value = valueAt(args, path);
    const expected = textOf(value);
    // An argument of another type is refused by the schema.
    if (expected === undefined) continue;
    const sent = header(name.toLowerCase());
    if (sent === undefined) return `the header ${name} is missing: it must repeat the argument ${path.join(".")}`;
    const decoded = decode(sent);
    if (decoded === undefined) return `the header ${name} is not valid base64 of UTF-8`;
    const isEqual =
      decoded === expected || (typeof value === "number" && DECIMAL.test(decoded) && Number(decoded) === value);
    if (!isEqual) return `the header ${name} differs from the argument ${path.join(".")}`;
  }
  return undefined;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

function valueAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" && !Number.isSafeInteger(value)) return undefined;
  return typeof value === "boolean" || typeof value === "number" ? String(value) : undefined;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The value of a header: as it is, or decoded; `undefined` if it cannot be decoded. */
function decode(value: string): string | undefined {
  const [, encoded] = ENCODED.exec(value) ?? [];
  if (encoded === undefined) return value;
  if (!BASE64.test(encoded)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, "base64"));
  } catch {
    return undefined;
  }
}
