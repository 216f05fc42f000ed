import fc from "fast-check";
import { A2AError } from "../../protocol/error.ts";

/** Generators of invalid JSON from names and values of the protocol. */
export interface HostileJson {
  readonly anything: fc.Arbitrary<unknown>;
  /** The given JSON, with a member or item replaced, added or removed. */
  mutated(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>;
}

/** Names with a meaning in JavaScript, and edge values of every version. */
const NAMES = ["__proto__", "toString", "constructor", "length", ""];
const VALUES = [null, true, false, 0, -1, 1.5, 1e300, 2 ** 31, "", "1", "x"];

/** `names` and `values`: member names and values of one version. */
export function hostileJson(names: readonly string[], values: readonly unknown[]): HostileJson {
  const name = fc.constantFrom(...names, ...NAMES);
  const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
    anything: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<unknown>(...VALUES, ...values),
      fc.array(tie("anything"), { maxLength: 3 }),
      fc.array(fc.tuple(name, tie("anything")), { maxLength: 6 }).map(Object.fromEntries),
    ),
  }));
  const way = fc.array(fc.nat({ max: 30 }), { maxLength: 6 });
  return {
    anything,
    mutated: (valid) =>
      fc
        .tuple(valid, way, fc.record({ value: anything, name }))
        .map(([target, steps, change]) => mutate(target, steps, change)),
  };
}

interface Change {
  readonly value: unknown;
  readonly name: string;
}

/** Follows the path as far as it exists, and changes the value there. */
function mutate(target: unknown, [step, ...way]: readonly number[], change: Change): unknown {
  if (typeof target !== "object" || target === null || step === undefined) return change.value;
  if (Array.isArray(target)) {
    if (target.length === 0) return [change.value];
    const at = step % target.length;
    return target.map((item: unknown, index) => (index === at ? mutate(item, way, change) : item));
  }
  const entries = Object.entries(target);
  const at = step % (entries.length + 2);
  if (at === entries.length) return Object.fromEntries([...entries, [change.name, change.value]]);
  if (at > entries.length) return Object.fromEntries(entries.slice(1));
  return Object.fromEntries(
    entries.map(([name, item], index) => [name, index === at ? mutate(item, way, change) : item]),
  );
}

/** Freezes the JSON deeply, so that a modification throws. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) frozen(item);
    Object.freeze(value);
  }
  return value;
}

/** The field that the refusal of a request names; `undefined` if the request is accepted. Throws all other errors. */
export function fieldRefused(decode: () => unknown): string | undefined {
  try {
    decode();
  } catch (thrown) {
    if (thrown instanceof A2AError && thrown.code === "invalid-params" && thrown.violations[0] !== undefined)
      return thrown.violations[0].field;
    throw thrown;
  }
  return undefined;
}
