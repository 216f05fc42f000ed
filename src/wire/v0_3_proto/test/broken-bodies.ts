import fc from "fast-check";
import type { JsonValue } from "../../../protocol/json.ts";
import { json } from "./models.ts";

const wrong: fc.Arbitrary<JsonValue> = fc.oneof(
  json,
  fc.constantFrom<JsonValue>(null, "", 0, -1, 1.5, 1e300, "abc", "tasks/", true, [], {}, [null], [[]]),
  // As `JSON.parse` returns it: an own member.
  fc.constant(Object.fromEntries([["__proto__", []]])),
  fc.constant("i".repeat(10_000)),
  fc.constant(nested(200)),
);

/** Deeper than the maximum depth. */
function nested(depth: number): JsonValue {
  return depth === 0 ? 1 : depth % 2 === 0 ? [nested(depth - 1)] : { data: nested(depth - 1) };
}

/** A body with a member or item replaced, removed or added. `picks` choose the place. */
function broken(body: JsonValue, picks: readonly number[], value: JsonValue): JsonValue {
  const [pick = 0, ...others] = picks;
  if (picks.length === 0 || typeof body !== "object" || body === null) return value;
  if (Array.isArray(body)) {
    const at = pick % (body.length + 1);
    return [...body.slice(0, at), broken(body[at] ?? null, others, value), ...body.slice(at + 1)];
  }
  const entries = Object.entries(body);
  const at = pick % (entries.length + 2);
  const entry = entries[at];
  if (entry === undefined) return Object.fromEntries([...entries, [at === entries.length ? "text" : "data", value]]);
  if (pick > 900) return Object.fromEntries(entries.filter((_, index) => index !== at));
  return Object.fromEntries([...entries, [entry[0], broken(entry[1], others, value)]]);
}

/** The given bodies with one to three changes. */
export function brokenBodies(bodies: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  const places = fc.array(fc.tuple(fc.array(fc.nat(1000), { minLength: 1, maxLength: 6 }), wrong), {
    minLength: 1,
    maxLength: 3,
  });
  return fc
    .tuple(bodies, places)
    .map(([body, breaks]) => breaks.reduce((whole, [picks, value]) => broken(whole, picks, value), body));
}
