import { invalidField } from "../../protocol/error.ts";
import { member, type WireObject } from "../fields/fields.ts";

/** `generation` of a request: ProtoJSON writes an int64 as text, and readers accept numbers too. Throws `invalid-params`. */
export function optionalGeneration(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  const number = numberOf(value);
  if (number === undefined) throw invalidField(path, "must be a whole number");
  if (number < 0) throw invalidField(path, "must not be negative");
  if (number > Number.MAX_SAFE_INTEGER) throw invalidField(path, `must be at most ${Number.MAX_SAFE_INTEGER}`);
  return number;
}

/** `generation` of an agent's task or event. Absent if it is not usable: servers that do not implement it send 0 or nothing. */
export function generationIn(wire: WireObject): { readonly generation?: number } {
  const number = numberOf(member(wire, "generation"));
  return number !== undefined && number > 0 && Number.isSafeInteger(number) ? { generation: number } : {};
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^-?\d{1,19}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) ? number : undefined;
}
