import type { JsonObject, JsonValue } from "./json.ts";
import type { DataPart, Part } from "./part.ts";

/** A tool call. In a question the agent asks its caller to make it; in a status of a working task the agent reports that it makes it. */
export interface ToolUse {
  /** The tool result refers to it. In a question: its request id. */
  readonly toolUseId: string;
  readonly name: string;
  /** The arguments of the call. Absent: none. */
  readonly input?: JsonValue;
}

/** The result of a tool call: from the caller to the agent, or as the agent reports it. */
export interface ToolResult {
  readonly toolUseId: string;
  readonly result: JsonValue;
}

/**
 * A2A has no part for tool calls: they are data parts, marked by the part's metadata.
 * `{ toolUseId: "r1", name: "search" }` becomes `{ data: { toolUseId: "r1", name: "search" }, metadata: { kind: "tool-use" } }`.
 */
export function toolUsePart(use: ToolUse): DataPart {
  return { data: { ...use }, metadata: { kind: "tool-use" } };
}

/** The answer to a tool call, as a data part with `metadata.kind` = `tool-result`. */
export function toolResultPart({ toolUseId, result }: ToolResult): DataPart {
  return { data: { toolUseId, result }, metadata: { kind: "tool-result" } };
}

/** The result of a tool call that failed: `{ isError: true, message }`. */
export function toolFailure(message: string): JsonObject {
  return { isError: true, message };
}

/** Why a tool call failed, from its result; `undefined` if it did not fail. */
export function toolFailureOf(result: JsonValue): string | undefined {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return undefined;
  // Safe cast: neither an array nor null, so an object.
  const { isError, message } = result as JsonObject;
  if (isError !== true) return undefined;
  return typeof message === "string" ? message : "The tool failed.";
}

/** The tool call in a part; `undefined` for other parts. */
export function toolUseOf({ data, metadata }: Part): ToolUse | undefined {
  if (metadata?.["kind"] !== "tool-use") return undefined;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  // Safe cast: neither an array nor null, so an object.
  const { toolUseId, name, input } = data as JsonObject;
  if (typeof toolUseId !== "string" || typeof name !== "string") return undefined;
  return { toolUseId, name, ...(input !== undefined && { input }) };
}

/** The tool result in a part; `undefined` for other parts. */
export function toolResultOf({ data, metadata }: Part): ToolResult | undefined {
  if (metadata?.["kind"] !== "tool-result") return undefined;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  // Safe cast: neither an array nor null, so an object.
  const { toolUseId, result } = data as JsonObject;
  return typeof toolUseId === "string" ? { toolUseId, result: result ?? null } : undefined;
}
