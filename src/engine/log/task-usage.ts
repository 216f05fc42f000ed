import type { JsonValue } from "../../protocol/json.ts";
import type { Usage } from "../agent/agent.ts";
import { mergeMetadata, readMetadata } from "./task-metadata.ts";

/** The counters that the agent's code passes. Throws a `TypeError` for a value that is negative or no number. */
export function usageCounters(usage: Usage): readonly (readonly [name: string, value: number])[] {
  if (typeof usage !== "object" || usage === null || Array.isArray(usage))
    throw new TypeError("usage() needs an object of numbers.");
  return Object.entries(usage).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      throw new TypeError(`usage(): ${name} must be a number of at least 0.`);
    return [[name, value] as const];
  });
}

/** The task's metadata (JSON text) with the counters added to its `usage`. Throws a `TaskFailure` if it becomes too large. */
export function addUsage(
  metadata: string | undefined,
  counters: readonly (readonly [name: string, value: number])[],
): string | undefined {
  const { usage: before } = readMetadata(metadata);
  const isCounted = typeof before === "object" && before !== null && !Array.isArray(before);
  const total = new Map<string, JsonValue>(isCounted ? Object.entries(before) : []);
  for (const [name, value] of counters) {
    const earlier = total.get(name);
    total.set(name, (typeof earlier === "number" ? earlier : 0) + value);
  }
  return mergeMetadata(metadata, { usage: Object.fromEntries(total) });
}
