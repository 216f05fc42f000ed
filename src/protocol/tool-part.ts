import type { JsonObject, JsonValue } from "./json.ts";
import type { DataPart, Part } from "./part.ts";

/** A tool that an agent asks its caller to use. */
export interface ToolUse {
  /** The question this is, which the result answers. */
  readonly toolUseId: string;
  readonly name: string;
  readonly input?: JsonValue;
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly result: JsonValue;
}

/** Tools have no part of their own in the protocol: they travel as data, and the part's metadata says what it is. */
export function toolUsePart(use: ToolUse): DataPart {
  return { data: { ...use }, metadata: { kind: "tool-use" } };
}

export function toolResultPart({ toolUseId, result }: ToolResult): DataPart {
  return { data: { toolUseId, result }, metadata: { kind: "tool-result" } };
}

/** The tool that is to be used, where the part says that. */
export function toolUseOf({ data, metadata }: Part): ToolUse | undefined {
  if (metadata?.["kind"] !== "tool-use") return undefined;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  // Safe: neither a list nor null, so an object.
  const { toolUseId, name, input } = data as JsonObject;
  if (typeof toolUseId !== "string" || typeof name !== "string") return undefined;
  return { toolUseId, name, ...(input !== undefined && { input }) };
}

/** What a tool gave, where the part says that. */
export function toolResultOf({ data, metadata }: Part): ToolResult | undefined {
  if (metadata?.["kind"] !== "tool-result") return undefined;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  // Safe: neither a list nor null, so an object.
  const { toolUseId, result } = data as JsonObject;
  return typeof toolUseId === "string" ? { toolUseId, result: result ?? null } : undefined;
}
