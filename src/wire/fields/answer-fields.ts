import { asArray, asObject, asString } from "./fields.ts";

// Readers of agents' answers. A missing value counts as empty, and no length is limited.

export function textOf(value: unknown, path: string): string {
  return asString(value ?? "", path);
}

/** Entries that are `null` are skipped. */
export function listOf<T>(value: unknown, path: string, decode: (item: unknown, path: string) => T): T[] {
  const list = asArray(value ?? [], path, Number.POSITIVE_INFINITY);
  return list.flatMap((item, index) => (item === null ? [] : [decode(item, `${path}[${index}]`)]));
}

/** Members that are `null` are skipped. */
export function mapOf<T>(value: unknown, path: string, decode: (item: unknown, path: string) => T): Record<string, T> {
  const entries = Object.entries(asObject(value ?? {}, path)).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([name, item]) => [name, decode(item, `${path}.${name}`)]));
}

/** ISO 8601 in UTC with milliseconds. A time without zone counts as UTC. `undefined` if absent or unparseable. */
export function timeOf(value: unknown): string | undefined {
  const text = typeof value === "string" ? value : "";
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
