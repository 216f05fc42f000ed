import { parseOwnJson } from "../../internal/own-json.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { storableCopy } from "../agent/output.ts";
import { limitFailure } from "./limit-failure.ts";

/** Characters of JSON. The metadata is in every list of tasks, and is stored again with every status. */
const MAX_LENGTH = 16 * 1024;

/** A copy of the metadata that the agent's code sets, with `null` for each key to remove. Throws a `TypeError` if it is not JSON. */
export function metadataChange(metadata: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
    throw new TypeError("setMetadata() needs an object.");
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, storableCopy(value) ?? null]));
}

/**
 * Applies a change to a task's metadata (JSON text), key by key; `null` removes a key. Returns `undefined` if no key is left. Throws a
 * `TaskFailure` if the result is too large.
 */
export function mergeMetadata(before: string | undefined, change: JsonObject): string | undefined {
  const kept = Object.entries(readMetadata(before)).filter(([key]) => !Object.hasOwn(change, key));
  const entries = [...kept, ...Object.entries(change).filter(([, value]) => value !== null)];
  if (entries.length === 0) return undefined;
  const text = JSON.stringify(Object.fromEntries(entries));
  if (text.length > MAX_LENGTH)
    throw limitFailure(
      "metadata-too-large",
      `the metadata of a task may have at most ${MAX_LENGTH} characters of JSON`,
    );
  return text;
}

/** `undefined` is read as no metadata. */
export function readMetadata(text: string | undefined): JsonObject {
  return text === undefined ? {} : parseOwnJson<JsonObject>(text);
}
