import { isJsonObject } from "../../protocol/json.ts";
import { type ClientAbilities, TASKS_EXTENSION } from "./contract.ts";

/** What the declared capabilities of a client allow. */
export function abilitiesOf(capabilities: unknown): ClientAbilities {
  const { elicitation, extensions } = isJsonObject(capabilities) ? capabilities : {};
  const isDeclared = isJsonObject(elicitation);
  const urls = isDeclared && elicitation["url"] !== undefined;
  return {
    // An empty object means forms: the revisions before 2025-11-25 have nothing else.
    forms: isDeclared && (elicitation["form"] !== undefined || !urls),
    urls,
    tasks: isJsonObject(extensions) && extensions[TASKS_EXTENSION] !== undefined,
  };
}
