import { parseOwnJson } from "../../internal/own-json.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { storableCopy } from "../agent/output.ts";
import { TaskFailure } from "../agent/task-failure.ts";

/** Characters of JSON that a task's metadata may have: it is part of every list, and written with every status. */
const MAX_LENGTH = 16 * 1024;

/** A copy of what an author set, with `null` for every key to remove. Throws a `TypeError` for what is not JSON. */
export function metadataChange(metadata: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
    throw new TypeError("setMetadata() needs an object.");
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, storableCopy(value) ?? null]));
}

/** The metadata (JSON text) with the change, key by key; `null` removes a key. `undefined`: there is none. Throws if it gets too large. */
export function mergeMetadata(before: string | undefined, change: JsonObject): string | undefined {
  const kept = Object.entries(readMetadata(before)).filter(([key]) => !Object.hasOwn(change, key));
  const entries = [...kept, ...Object.entries(change).filter(([, value]) => value !== null)];
  if (entries.length === 0) return undefined;
  const text = JSON.stringify(Object.fromEntries(entries));
  if (text.length > MAX_LENGTH)
    throw new TaskFailure(`Over a limit: the metadata of a task may be ${MAX_LENGTH} bytes of JSON.`, {
      code: "metadata-too-large",
    });
  return text;
}

export function readMetadata(text: string | undefined): JsonObject {
  return text === undefined ? {} : parseOwnJson<JsonObject>(text);
}
