import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject } from "../../protocol/json.ts";
import { isRecord } from "./declared-value.ts";

/**
 * The JSON Schema of a schema: the schema itself, or a function that converts it, such as `toJsonSchema` of `@valibot/to-json-schema`. Needed only
 * for libraries without Standard JSON Schema; Zod and ArkType have it.
 */
export type JsonSchemaSource = Readonly<Record<string, unknown>> | ((schema: StandardSchemaV1) => object);

/** Conversions by the library: an agent asks the same question many times. */
const CONVERTED = new WeakMap<StandardSchemaV1, { readonly result: JsonObject | undefined }>();

/** Characters. A larger schema is not published: every card and every question would carry it. */
const MAX_LENGTH = 32 * 1024;

/**
 * The JSON Schema (draft 2020-12) of what a schema accepts. `undefined`: the library cannot convert it, or the result is larger than 32 KB.
 * Throws what the author's converter throws.
 */
export function jsonSchemaOf(
  schema: StandardSchemaV1 | undefined,
  source: JsonSchemaSource | undefined,
): JsonObject | undefined {
  if (schema === undefined) return undefined;
  if (source !== undefined) return published(typeof source === "function" ? source(schema) : source);
  let converted = CONVERTED.get(schema);
  if (converted === undefined) {
    converted = { result: published(standardJsonSchema(schema)) };
    CONVERTED.set(schema, converted);
  }
  return converted.result;
}

/** The JSON Schema of an input that somebody else checks. `undefined`: there is none, or it is larger than 32 KB. */
export function givenJsonSchema(source: JsonSchemaSource | undefined): JsonObject | undefined {
  return typeof source === "object" ? published(source) : undefined;
}

/** The schema as JSON, without its `$schema`; `undefined` if it is no object or too large. */
function published(converted: unknown): JsonObject | undefined {
  if (!isRecord(converted)) return undefined;
  const text: string | undefined = JSON.stringify(converted);
  if (text === undefined || text.length > MAX_LENGTH) return undefined;
  // Safe cast: the JSON of an object is an object.
  const { $schema: _draft, ...members } = JSON.parse(text) as JsonObject;
  return members;
}

/** What Standard JSON Schema returns; `undefined` if the library does not support it, or not for this schema. */
function standardJsonSchema(schema: StandardSchemaV1): unknown {
  const standard: unknown = schema["~standard"];
  const converter: unknown = isRecord(standard) ? standard["jsonSchema"] : undefined;
  const convert: unknown = isRecord(converter) ? converter["input"] : undefined;
  if (typeof convert !== "function") return undefined;
  try {
    return Reflect.apply(convert, converter, [{ target: "draft-2020-12" }]);
  } catch {
    // A transformation, a date or a custom type: the library says that it has no JSON Schema.
    return undefined;
  }
}
