import { asArray, asObject, asString } from "./fields.ts";

// Readers of agents' answers. A missing value counts as empty, and no length is limited.

/** Empty if absent or `null`. Throws `invalid-params` for other types. */
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

/**
 * ISO 8601 in UTC with milliseconds. A time without zone counts as UTC, because examples in the specifications of 0.x omit the zone.
 * `2030-01-31T12:00:00` becomes `2030-01-31T12:00:00.000Z`. `undefined` if absent or unparseable: a wrong time must not hide the rest of
 * the task.
 */
export function timeOf(value: unknown): string | undefined {
  const text = typeof value === "string" ? value : "";
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
