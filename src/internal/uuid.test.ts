import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createUuidSource, uuidv7 } from "./uuid.ts";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const timeOf = (id: string): number => Number.parseInt(id.replace("-", "").slice(0, 12), 16);

describe("uuidv7", () => {
  test("is a UUID of version 7 that contains the time", () => {
    const before = Date.now();
    const id = uuidv7();
    expect(id).toMatch(V7);
    // Earlier bursts of ids may have advanced the timestamp by a few milliseconds.
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
    expect(timeOf(createUuidSource()(0x0123_4567_89ab))).toBe(0x0123_4567_89ab);
    expect(timeOf(createUuidSource()(1234.9))).toBe(1234);
  });

  test("each sorts after the one before, whatever the clock does", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 48 - 10_000 }), { maxLength: 200 }), (times) => {
        const next = createUuidSource();
        const ids = times.map((time) => next(time));
        for (const id of ids) expect(id).toMatch(V7);
        expect(ids).toEqual([...new Set(ids)].toSorted());
      }),
    );
  });

  test("100,000 ids while the clock stands still are distinct, sorted, and few milliseconds ahead", () => {
    const next = createUuidSource();
    let last = "";
    for (let count = 0; count < 100_000; count += 1) {
      const id = next(1_000_000);
      if (id <= last) throw new Error(`${id} does not sort after ${last}`);
      last = id;
    }
    expect(timeOf(last) - 1_000_000).toBeLessThan(50);
  });

  test("two sources at the same time create different ids", () => {
    const [one, two] = [createUuidSource(), createUuidSource()];
    const ids = Array.from({ length: 5000 }, () => [one(1), two(1)]).flat();
    expect(new Set(ids).size).toBe(10_000);
  });

  test("the random part differs from id to id and uses all its bits", () => {
    const next = createUuidSource();
    let and = 0xffff_ffffn * 0x1_0000_0000n + 0xffff_ffffn;
    let or = 0n;
    for (let count = 0; count < 2000; count += 1) {
      const bits = BigInt(`0x${next(1).slice(19).replace("-", "")}`);
      and &= bits;
      or |= bits;
    }
    const variant = 0x8000_0000_0000_0000n;
    expect(and).toBe(variant);
    expect(or).toBe(variant | 0x3fff_ffff_ffff_ffffn);
  });
});
