import { asArray, asObject, asString } from "./fields.ts";

// Readers of what agents answer: what is left out is empty, and nothing is too long.

export function textOf(value: unknown, path: string): string {
  return asString(value ?? "", path);
}

/** Entries that are `null` count as left out. */
export function listOf<T>(value: unknown, path: string, decode: (item: unknown, path: string) => T): T[] {
  const list = asArray(value ?? [], path, Number.POSITIVE_INFINITY);
  return list.flatMap((item, index) => (item === null ? [] : [decode(item, `${path}[${index}]`)]));
}

/** Members that are `null` count as left out. */
export function mapOf<T>(value: unknown, path: string, decode: (item: unknown, path: string) => T): Record<string, T> {
  const entries = Object.entries(asObject(value ?? {}, path)).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([name, item]) => [name, decode(item, `${path}.${name}`)]));
}

/** In UTC with milliseconds. Without a zone it is UTC. `undefined` where it is left out or not understood. */
export function timeOf(value: unknown): string | undefined {
  const text = typeof value === "string" ? value : "";
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
