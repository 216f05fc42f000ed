import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject, JsonValue } from "../../../protocol/json.ts";
import { checkJson, uncheckedIn } from "../../schema/check-json.ts";
import { processFailure } from "../process-failure.ts";

/**
 * The Standard Schema of a JSON Schema that a program has written. It supports the keywords that forms need; for any other keyword it throws a `TaskFailure`,
 * so that no answer is accepted that the program believes to be checked.
 */
export function answerSchema(schema: JsonObject): StandardSchemaV1<JsonValue> {
  const problem = uncheckedIn(schema);
  if (problem !== undefined)
    throw processFailure("process-schema-invalid", `The program asked with an invalid schema: ${problem}.`);
  return {
    "~standard": {
      version: 1,
      vendor: "palaver",
      validate(input) {
        // Safe cast: an answer is JSON.
        const value = input as JsonValue;
        const issues = checkJson(value, schema);
        return issues.length > 0 ? { issues } : { value };
      },
    },
  };
}
