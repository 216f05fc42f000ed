import type { Skill } from "../../engine/agent/agent.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { textOf } from "../../protocol/part.ts";
import { checkJson, objectOf } from "../schema/check-json.ts";

/**
 * The id of the skill for a message that names none: the only skill; else the only one that knows all of the arguments and gets all that it needs. A tool without
 * arguments accepts any data by its schema, so the schema alone does not decide.
 */
export function routeMessage(message: Message, skills: readonly Skill[]): string | undefined {
  if (skills.length === 1) return skills[0]?.id;
  const given = dataIn(message);
  if (given === undefined) return undefined;
  const fitting = skills.filter(({ jsonSchema }) => fits(given, jsonSchema));
  return fitting.length === 1 ? fitting[0]?.id : undefined;
}

function fits(given: JsonObject, schema: Skill["jsonSchema"]): boolean {
  // The schemas of these skills are always objects.
  if (typeof schema !== "object") return false;
  // Safe cast: it comes from JSON.
  const rules = schema as JsonObject;
  const names = Object.keys(given);
  const known = objectOf(rules["properties"]);
  return names.length > 0 && names.every((name) => Object.hasOwn(known, name)) && checkJson(given, rules).length === 0;
}

function dataIn({ parts }: Message): JsonObject | undefined {
  const data: unknown = parts.find((part) => part.data !== undefined)?.data ?? parsed(textOf(parts));
  return isJsonObject(data) ? data : undefined;
}

function parsed(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
