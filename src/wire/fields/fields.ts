import { invalidField } from "../../protocol/error.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";

/** An object as `JSON.parse` made it. Its members are own properties, `__proto__` included, so looking one up is safe. */
export type WireObject = Readonly<Record<string, unknown>>;

/** How deep free-form JSON may nest. */
export const MAX_DEPTH = 64;
/** How long an id may be, in UTF-16 units. */
export const MAX_ID_LENGTH = 256;
const INT32_MAX = 2_147_483_647;

/** The member by its name or by its older spelling; `null` is as good as none. */
export function member(object: WireObject, name: string, alias?: string): unknown {
  const value = object[name] ?? (alias === undefined ? undefined : object[alias]);
  return value === null ? undefined : value;
}

export function asObject(value: unknown, path: string): WireObject {
  if (!isWireObject(value)) throw invalidField(path, `must be an object, not ${typeName(value)}`);
  return value;
}

export function isWireObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asArray(value: unknown, path: string, maxLength: number): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidField(path, `must be an array, not ${typeName(value)}`);
  if (value.length > maxLength)
    throw invalidField(path, `must have at most ${maxLength} elements, not ${value.length}`);
  return value;
}

export function asString(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalidField(path, `must be a string, not ${typeName(value)}`);
  return value;
}

/** A string that may be left out. Empty counts as left out, as in the protocol's own definition language. */
export function optionalString(value: unknown, path: string): string | undefined {
  return value === undefined ? undefined : asString(value, path) || undefined;
}

export function optionalBoolean(value: unknown, path: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw invalidField(path, `must be true or false, not ${typeName(value)}`);
}

/** A 32-bit integer, as number or as decimal string. */
export function optionalInteger(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "string" && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) {
    throw invalidField(path, `must be an integer, not ${typeof value === "number" ? value : typeName(value)}`);
  }
  if (number > INT32_MAX || number < -INT32_MAX - 1) throw invalidField(path, "must fit into 32 bits");
  return number;
}

/** An id that must be there: not empty, of bounded length, encodable. */
export function asId(value: unknown, path: string): string {
  if (value === undefined) throw invalidField(path, "is required");
  const id = asString(value, path);
  const fault = faultOf(id);
  if (fault !== undefined) throw invalidField(path, fault);
  return id;
}

/** Whether it would do as an id. */
export function isId(value: unknown): boolean {
  return typeof value === "string" && faultOf(value) === undefined;
}

function faultOf(id: string): string | undefined {
  if (id === "") return "must not be empty";
  if (id.length > MAX_ID_LENGTH) return `must have at most ${MAX_ID_LENGTH} characters`;
  if (!id.isWellFormed()) return "must be well-formed Unicode";
  // Some stores cannot keep it, and a text that looks like another is no good name.
  return id.includes("\0") ? "must not have the character NUL" : undefined;
}

export function optionalId(value: unknown, path: string): string | undefined {
  return value === undefined || value === "" ? undefined : asId(value, path);
}

/** A list of short strings, such as media types or URIs. */
export function optionalStrings(value: unknown, path: string): string[] | undefined {
  if (value === undefined) return undefined;
  return asArray(value, path, 256).map((item, index) => asId(item ?? undefined, `${path}[${index}]`));
}

/** Free-form JSON, kept as it came: bounded in depth, its numbers such that they can be written again. */
export function asJson(value: unknown, path: string): JsonValue {
  checkJson(value, path, 1);
  // What JSON.parse returned is JSON; only depth and range needed looking at.
  return value as JsonValue;
}

export function optionalJsonObject(value: unknown, path: string): JsonObject | undefined {
  if (value === undefined) return undefined;
  const object = asObject(value, path);
  checkJson(object, path, 1);
  // As above: parsed JSON, known to be an object.
  return object as JsonObject;
}

function checkJson(value: unknown, path: string, depth: number): void {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw invalidField(path, "has a number beyond what JSON readers can hold");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_DEPTH) throw invalidField(path, `nests deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (const item of value) checkJson(item, path, depth + 1);
    return;
  }
  // Half the time of `Object.values`, which matters for objects of 100,000 members. Parsed JSON inherits no enumerable members.
  for (const name in value) checkJson((value as WireObject)[name], path, depth + 1);
}

/** Names a value's kind for an error message, without quoting it. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
