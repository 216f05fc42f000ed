import type { Part } from "../../protocol/part.ts";
import { toolFailure, toolResultPart, toolUsePart } from "../../protocol/tool-part.ts";
import type { ToolCall, ToolCallResult } from "../agent/agent.ts";
import { storableCopy } from "../agent/output.ts";

const MAX_ID = 256;

/** The part that reports a tool call. Throws a `TypeError` for an invalid id or name, and for an input that is not JSON. */
export function toolCallPart({ id, name, input }: ToolCall): Part {
  requireText("toolCall(): id", id);
  requireText("toolCall(): name", name);
  const copy = storableCopy(input);
  return toolUsePart({ toolUseId: id, name, ...(copy !== undefined && { input: copy }) });
}

/** The part that reports the result of a tool call. Throws a `TypeError` for an invalid id, and for an output that is not JSON. */
export function toolResultOfCall({ id, output, error }: ToolCallResult): Part {
  requireText("toolResult(): id", id);
  if (error !== undefined && typeof error !== "string") throw new TypeError("toolResult(): error must be a string.");
  return toolResultPart({
    toolUseId: id,
    result: error === undefined ? (storableCopy(output) ?? null) : toolFailure(error),
  });
}

function requireText(what: string, value: unknown): void {
  if (typeof value !== "string" || value === "" || value.length > MAX_ID)
    throw new TypeError(`${what} must be a string of 1 to ${MAX_ID} characters.`);
}
