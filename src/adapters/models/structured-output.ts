import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchemaSource } from "../../engine/agent/agent.ts";
import { jsonSchemaOf } from "../../engine/agent/json-schema.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { ModelCall } from "./model-contract.ts";

/** The form of the model's final answer. */
export interface OutputForm {
  readonly schema: StandardSchemaV1;
  readonly jsonSchema: JsonObject | undefined;
}

export type CheckedOutput =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

const MAX_PROBLEMS = 10;
const MAX_SHOWN = 500;
/** A model that was asked for JSON alone may still write it as a block of Markdown. */
const FENCE = /^```(?:json)?\s*\n([\s\S]*?)\n```$/;

export function outputForm(
  schema: StandardSchemaV1 | undefined,
  source: JsonSchemaSource | undefined,
): OutputForm | undefined {
  return schema === undefined ? undefined : { schema, jsonSchema: jsonSchemaOf(schema, source) };
}

/** Tells the provider that the answer is JSON, and its schema if it is known. */
export function responseFormat({ jsonSchema }: OutputForm): NonNullable<ModelCall["responseFormat"]> {
  return { type: "json", ...(jsonSchema !== undefined && { schema: jsonSchema }) };
}

/** The same for the model, in words: many endpoints ignore the response format, or know only a part of JSON Schema. */
export function outputInstructions({ jsonSchema }: OutputForm): string {
  const form = jsonSchema === undefined ? "" : ` It must match this JSON Schema: ${JSON.stringify(jsonSchema)}`;
  return `Your final answer must be one JSON value and nothing else: no explanation, no Markdown.${form}`;
}

/** Parses and validates an answer. The value is the one that the schema returns, as JSON. */
export async function checkOutput({ schema }: OutputForm, answer: string): Promise<CheckedOutput> {
  const text = answer.trim();
  let parsed: unknown;
  try {
    parsed = JSON.parse(FENCE.exec(text)?.[1] ?? text);
  } catch (error) {
    return { ok: false, problem: `It is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const result = await schema["~standard"].validate(parsed);
  if (result.issues === undefined) {
    const json: string | undefined = JSON.stringify(result.value);
    // Safe cast: `JSON.parse` returns a JSON value.
    return { ok: true, value: json === undefined ? null : (JSON.parse(json) as JsonValue) };
  }
  const problem = result.issues.slice(0, MAX_PROBLEMS).map(problemOf).join("; ");
  return { ok: false, problem };
}

/** The message to the model after an invalid answer. */
export function repairRequest(problem: string): string {
  return `Your answer is not valid. ${problem}\nAnswer again, with the corrected JSON value and nothing else.`;
}

function problemOf({ message, path = [] }: StandardSchemaV1.Issue): string {
  const place = path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".");
  const shown = message.slice(0, MAX_SHOWN);
  return place === "" ? shown : `${place}: ${shown}`;
}
