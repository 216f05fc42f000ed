import type { JsonObject } from "./json.ts";

/** Marks an artifact with the reasoning of a model. It is for readers, and no part of the conversation. */
export const REASONING_METADATA: JsonObject = { kind: "reasoning" };

export function isReasoning({ metadata }: { readonly metadata?: JsonObject }): boolean {
  return metadata?.["kind"] === REASONING_METADATA["kind"];
}
