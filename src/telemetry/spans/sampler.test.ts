import { expect, it } from "vitest";
import { isSampled } from "./sampler.ts";
import { randomTraceId } from "./span-ids.ts";

const parent = (flags: number) => ({ traceId: randomTraceId(), spanId: "1".repeat(16), flags });

it("the caller decides with byParent, whatever the ratio", () => {
  expect(isSampled({ ratio: 0, byParent: true }, randomTraceId(), parent(1))).toBe(true);
  expect(isSampled({ ratio: 1, byParent: true }, randomTraceId(), parent(0))).toBe(false);
  expect(isSampled({ ratio: 0, byParent: false }, randomTraceId(), parent(1))).toBe(false);
});

it("the ratio decides about new traces, for each trace always alike", () => {
  const ids = Array.from({ length: 4000 }, randomTraceId);
  const chosen = ids.filter((id) => isSampled({ ratio: 0.25, byParent: true }, id, undefined));
  expect(chosen.length).toBeGreaterThan(800);
  expect(chosen.length).toBeLessThan(1200);
  expect(chosen.every((id) => isSampled({ ratio: 0.25, byParent: true }, id, undefined))).toBe(true);
  expect(ids.some((id) => isSampled({ ratio: 0, byParent: true }, id, undefined))).toBe(false);
});
