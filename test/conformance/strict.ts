import type { Fields } from "./neutral.ts";

/** The response does not have the format of its dialect. */
export class FormError extends Error {
  override readonly name = "FormError";
}

export function wrong(path: string, claim: string, value?: unknown): never {
  const shown = value === undefined ? "" : `: ${JSON.stringify(value)?.slice(0, 400)}`;
  throw new FormError(`${path} ${claim}${shown}`);
}

interface Members {
  readonly required?: readonly string[];
  readonly optional?: readonly string[];
  /** Exactly one of these must be present. */
  readonly one?: readonly string[];
}

/** An object with these members and no others. */
export function objectWith(value: unknown, path: string, members: Members): Fields {
  const { required = [], optional = [], one = [] } = members;
  const fields = asObject(value, path);
  for (const name of required) if (fields[name] === undefined) wrong(path, `lacks ${name}`, fields);
  for (const [name, content] of Object.entries(fields)) {
    if (![...required, ...optional, ...one].includes(name)) wrong(path, `has the unknown member ${name}`, fields);
    if (content === null && name !== "data" && name !== "id" && name !== "result") wrong(`${path}.${name}`, "is null");
  }
  if (one.length > 0 && one.filter((name) => name in fields).length !== 1) {
    wrong(path, `must have exactly one of ${one.join(", ")}`, fields);
  }
  return fields;
}

export function asObject(value: unknown, path: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) wrong(path, "is not an object", value);
  // Every object can be read member by member.
  return value as Fields;
}

export function asList(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : wrong(path, "is not a list", value);
}

export function asText(value: unknown, path: string): string {
  return typeof value === "string" ? value : wrong(path, "is not a string", value);
}

export function asNumber(value: unknown, path: string): number {
  return typeof value === "number" ? value : wrong(path, "is not a number", value);
}

export function asFlag(value: unknown, path: string): boolean {
  return typeof value === "boolean" ? value : wrong(path, "is not a boolean", value);
}

/** UTC, milliseconds, `Z`. */
export function asTimestamp(value: unknown, path: string): string {
  const text = asText(value, path);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? text : wrong(path, "is not a UTC timestamp", value);
}

type Reader<T> = (value: unknown, path: string) => T;

export function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, path) => asList(value, path).map((each, index) => read(each, `${path}[${index}]`));
}

export const asTexts: Reader<readonly string[]> = listOf(asText);

/** `{ [name]: … }` if the member is present, otherwise `{}`. */
export function maybe<Name extends string, T>(
  fields: Fields,
  name: Name,
  read: Reader<T>,
): { readonly [name in Name]?: T } {
  const value = fields[name];
  // The computed key is the name.
  return value === undefined ? {} : ({ [name]: read(value, name) } as { readonly [name in Name]: T });
}
