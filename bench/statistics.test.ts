import { expect, test } from "vitest";
import { growthExponent, median, percentile, ratios, summarize } from "./statistics.ts";

test("the median of an even number of runs is the mean of the two in the middle", () => {
  expect(median([9, 1, 3])).toBe(3);
  expect(median([9, 1, 3, 5])).toBe(4);
  expect(median([])).toBeNaN();
});

test("numbers are sorted numerically", () => {
  expect(summarize([100, 9, 20])).toEqual({ median: 20, min: 9, max: 100, runs: 3 });
});

test("a percentile is one of the values", () => {
  const values = Array.from({ length: 100 }, (_, index) => index + 1);
  expect(percentile(values, 0.5)).toBe(50);
  expect(percentile(values, 0.99)).toBe(99);
  expect(percentile([7], 0.99)).toBe(7);
});

test("ratios are computed per round, for the rounds that both sides have", () => {
  expect(ratios([10, 30, 5], [5, 10])).toEqual([2, 3]);
});

test("the growth exponent distinguishes linear from quadratic cost", () => {
  expect(growthExponent({ size: 1_000, cost: 0.1 }, { size: 10_000, cost: 1 })).toBeCloseTo(1);
  expect(growthExponent({ size: 1_000, cost: 0.1 }, { size: 10_000, cost: 10 })).toBeCloseTo(2);
});
