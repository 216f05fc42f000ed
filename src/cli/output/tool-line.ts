import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import { toolFailureOf, toolResultOf, toolUseOf } from "../../protocol/tool-part.ts";

/** Characters of an input or a result, unless everything is printed. */
const MAX_LENGTH = 200;

/** A tool call or its result as one line, such as `search {"q":"x"} (call-1)`. `undefined` for other parts. `whole`: nothing is shortened. */
export function toolLine(
  part: Part,
  whole: boolean,
): { readonly label: "Tool call" | "Tool result" | "Tool error"; readonly text: string } | undefined {
  const use = toolUseOf(part);
  if (use !== undefined)
    return { label: "Tool call", text: `${use.name} ${shown(use.input ?? {}, whole)} (${use.toolUseId})` };
  const outcome = toolResultOf(part);
  if (outcome === undefined) return undefined;
  const { toolUseId, result } = outcome;
  const failure = toolFailureOf(result);
  return failure === undefined
    ? { label: "Tool result", text: `${shown(result, whole)} (${toolUseId})` }
    : { label: "Tool error", text: `${shown(failure, whole)} (${toolUseId})` };
}

function shown(value: JsonValue, whole: boolean): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return whole || text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
}
