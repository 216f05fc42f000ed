import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { checkJson, objectOf } from "../schema/check-json.ts";

/** Arguments that an error names. */
const MAX_NAMES = 20;

/**
 * Validates the arguments of a call by their JSON Schema. Keywords that are not supported here are ignored, because the server validates the arguments again.
 * A text is accepted as the value of the only property, or of the only required one, if its type is string. Any text is accepted if there are no properties.
 */
export function argumentsSchema(schema: JsonObject): StandardSchemaV1<unknown, JsonObject> {
  return {
    "~standard": {
      version: 1,
      vendor: "palaver",
      validate(given) {
        // Safe cast: the data of a message is JSON.
        const value = typeof given === "string" ? argumentsOfText(given, schema) : (given as JsonValue);
        if (!isJsonObject(value)) return { issues: [{ message: `must be ${wantedOf(schema)}` }] };
        const issues = checkJson(value, schema);
        return issues.length > 0 ? { issues } : { value };
      },
    },
  };
}

/** Names the arguments, because a caller who sends a text does not know them. */
function wantedOf(schema: JsonObject): string {
  const names = Object.keys(objectOf(schema["properties"])).slice(0, MAX_NAMES);
  return `a JSON object with the arguments ${names.join(", ")}`;
}

function argumentsOfText(text: string, schema: JsonObject): JsonValue {
  const properties = Object.keys(objectOf(schema["properties"]));
  if (properties.length === 0) return {};
  const name = onlyName(schema);
  return name !== undefined && typeOf(schema, name) === "string" ? { [name]: text } : text;
}

/** The name of the only property, or of the only required one. */
export function onlyName(schema: JsonObject): string | undefined {
  const names = Object.keys(objectOf(schema["properties"]));
  const { required } = schema;
  const needed = Array.isArray(required) ? required.map(String) : [];
  if (names.length === 1) return names[0];
  return needed.length === 1 ? needed[0] : undefined;
}

export function typeOf(schema: JsonObject, name: string): JsonValue | undefined {
  const properties = objectOf(schema["properties"]);
  return Object.hasOwn(properties, name) ? objectOf(properties[name])["type"] : undefined;
}
