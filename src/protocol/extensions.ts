import type { AgentCard } from "./card.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

/**
 * URI of the extension with which a card declares idempotent sends: a repeated message gets the earlier task. Its `params.windowSeconds` is the
 * idempotency window.
 */
export const IDEMPOTENT_SEND = "urn:palaver:extension:idempotent-send";

/**
 * URI of the extension with which a card declares the inputs of its skills. `params.skills` has the JSON Schema (draft 2020-12) of the data of a
 * message, by the id of the skill.
 */
export const INPUT_SCHEMAS = "urn:palaver:extension:input-schemas";

/** The JSON Schema of a skill's input, if the card publishes one with {@link INPUT_SCHEMAS}. */
export function inputSchemaOf(
  { capabilities }: Pick<AgentCard, "capabilities">,
  skill: string,
): JsonObject | undefined {
  const schemas = capabilities.extensions?.find(({ uri }) => uri === INPUT_SCHEMAS)?.params?.["skills"];
  const schema = isJsonObject(schemas) && Object.hasOwn(schemas, skill) ? schemas[skill] : undefined;
  return isJsonObject(schema) ? schema : undefined;
}
