import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Usage } from "../agent/agent.ts";
import { mergeMetadata, readMetadata } from "./task-metadata.ts";

type NamedCounters = readonly (readonly [name: string, value: number])[];

/** The model and the counters that the agent's code passes. Throws a `TypeError` for a value that is negative or no number. */
export function usageCounters(usage: Usage): { readonly model: string | undefined; readonly counters: NamedCounters } {
  if (typeof usage !== "object" || usage === null || Array.isArray(usage))
    throw new TypeError("usage() needs an object of numbers.");
  const { model, ...values } = usage;
  if (model !== undefined && (typeof model !== "string" || model === "" || model.length > 100))
    throw new TypeError("usage(): model must be a name of 1 to 100 characters.");
  const counters = Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      throw new TypeError(`usage(): ${name} must be a number of at least 0.`);
    return [[name, value] as const];
  });
  return { model, counters };
}

/** Models that are counted one by one; others only in the total. */
const MAX_MODELS = 20;

/** The task's metadata (JSON text) with the counters added to its `usage`, and to those of the model. Throws a `TaskFailure` if it becomes too large. */
export function addUsage(metadata: string | undefined, counters: NamedCounters, model?: string): string | undefined {
  const { usage: before } = readMetadata(metadata);
  const total = added(before, counters);
  const models = objectOf(total["models"]);
  if (model === undefined || (!Object.hasOwn(models, model) && Object.keys(models).length >= MAX_MODELS))
    return mergeMetadata(metadata, { usage: total });
  const share = Object.entries(models).filter(([name]) => name !== model);
  // Object.fromEntries, because assigning a member called `__proto__` would set the prototype.
  const shares = Object.fromEntries([...share, [model, added(models[model], counters)]]);
  return mergeMetadata(metadata, { usage: { ...total, models: shares } });
}

function added(before: JsonValue | undefined, counters: NamedCounters): JsonObject {
  const total = new Map<string, JsonValue>(Object.entries(objectOf(before)));
  for (const [name, value] of counters) {
    const earlier = total.get(name);
    total.set(name, (typeof earlier === "number" ? earlier : 0) + value);
  }
  return Object.fromEntries(total);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  // Safe cast: arrays are excluded, which the compiler does not see for read-only ones.
  return isObject ? (value as JsonObject) : {};
}
