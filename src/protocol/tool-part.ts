import type { JsonObject, JsonValue } from "./json.ts";
import type { DataPart, Part } from "./part.ts";

/** A tool call that an agent asks its caller to make. */
export interface ToolUse {
  /** Request id of the question; the tool result refers to it. */
  readonly toolUseId: string;
  readonly name: string;
  readonly input?: JsonValue;
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly result: JsonValue;
}

/** A2A has no part for tool calls: they are data parts, marked by the part's metadata. */
export function toolUsePart(use: ToolUse): DataPart {
  return { data: { ...use }, metadata: { kind: "tool-use" } };
}

export function toolResultPart({ toolUseId, result }: ToolResult): DataPart {
  return { data: { toolUseId, result }, metadata: { kind: "tool-result" } };
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
