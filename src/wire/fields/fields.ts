// Readers of single values for decoders of requests. Each takes a parsed JSON value and the path of its field, returns the value with its
// type, and throws `invalid-params` with that path if the value has another type. `as…` requires a value, `optional…` accepts `undefined`.

import { invalidField } from "../../protocol/error.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";

/** An object from `JSON.parse`. All members are own properties, including `__proto__`, so lookups are safe. */
export type WireObject = Readonly<Record<string, unknown>>;

/** Maximum nesting depth of free-form JSON. Limits the recursion of everything that later walks through the value. */
export const MAX_DEPTH = 64;
/** Maximum length of an id, in UTF-16 code units. */
export const MAX_ID_LENGTH = 256;
const INT32_MAX = 2_147_483_647;

/** The member `name`, else the member `alias`, which is the snake_case name that ProtoJSON readers accept too. `null` counts as absent. */
export function member(object: WireObject, name: string, alias?: string): unknown {
  const value = object[name] ?? (alias === undefined ? undefined : object[alias]);
  return value === null ? undefined : value;
}

export function asObject(value: unknown, path: string): WireObject {
  if (!isWireObject(value)) throw invalidField(path, `must be an object, not ${typeName(value)}`);
  return value;
}

/** True for a JSON object, false for arrays and `null`. */
export function isWireObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Also throws if the array has more than `maxLength` elements. */
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

/** An optional string. Empty counts as absent, as in ProtoJSON. */
export function optionalString(value: unknown, path: string): string | undefined {
  return value === undefined ? undefined : asString(value, path) || undefined;
}

export function optionalBoolean(value: unknown, path: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw invalidField(path, `must be true or false, not ${typeName(value)}`);
}

/** An optional 32-bit integer, as number or as decimal string. */
export function optionalInteger(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "string" && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) {
    throw invalidField(path, `must be an integer, not ${typeof value === "number" ? value : typeName(value)}`);
  }
  if (number > INT32_MAX || number < -INT32_MAX - 1) throw invalidField(path, "must fit into 32 bits");
  return number;
}

/** A required id: 1 to 256 characters of well-formed Unicode without NUL. */
export function asId(value: unknown, path: string): string {
  if (value === undefined) throw invalidField(path, "is required");
  const id = asString(value, path);
  const fault = faultOf(id);
  if (fault !== undefined) throw invalidField(path, fault);
  return id;
}

/** Whether `asId` accepts the value. */
export function isId(value: unknown): boolean {
  return typeof value === "string" && faultOf(value) === undefined;
}

function faultOf(id: string): string | undefined {
  if (id === "") return "must not be empty";
  if (id.length > MAX_ID_LENGTH) return `must have at most ${MAX_ID_LENGTH} characters`;
  if (!id.isWellFormed()) return "must be well-formed Unicode";
  // Some stores cannot store NUL, and ids that look alike are confusing.
  return id.includes("\0") ? "must not contain the character NUL" : undefined;
}

/** As `asId`, but empty counts as absent, as in ProtoJSON. */
export function optionalId(value: unknown, path: string): string | undefined {
  return value === undefined || value === "" ? undefined : asId(value, path);
}

/** An optional list of at most 256 short strings, such as media types or URIs. */
export function optionalStrings(value: unknown, path: string): string[] | undefined {
  if (value === undefined) return undefined;
  return asArray(value, path, 256).map((item, index) => asId(item ?? undefined, `${path}[${index}]`));
}

/** Free-form JSON, returned unchanged. Throws if it is nested too deeply or has a number that JSON cannot represent (`1e999`). */
export function asJson(value: unknown, path: string): JsonValue {
  checkJson(value, path, 1);
  // Safe: `JSON.parse` returned the value; only depth and numbers need checks.
  return value as JsonValue;
}

/** Free-form JSON that must be an object, such as metadata; checked like `asJson`. */
export function optionalJsonObject(value: unknown, path: string): JsonObject | undefined {
  if (value === undefined) return undefined;
  const object = asObject(value, path);
  checkJson(object, path, 1);
  // Safe, as above; `asObject` has checked that it is an object.
  return object as JsonObject;
}

/** Walks through the whole value once. `path` stays that of the top: naming deep members would cost more than the check. */
function checkJson(value: unknown, path: string, depth: number): void {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw invalidField(path, "has a number outside the range of a 64-bit float");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_DEPTH) throw invalidField(path, `must not be nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (const item of value) checkJson(item, path, depth + 1);
    return;
  }
  // Twice as fast as `Object.values` for objects of 100,000 members. Parsed JSON inherits no enumerable members.
  for (const name in value) checkJson((value as WireObject)[name], path, depth + 1);
}

/** The type of a value for error messages, without the value itself. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
