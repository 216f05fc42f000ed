import { expect, test } from "vitest";
import { interval, relativeMargin } from "./interval.ts";

test("equal factors have an interval without width", () => {
  expect(interval([2, 2, 2, 2, 2, 2])).toEqual({ factor: 2, low: 2, high: 2 });
});

test("the interval of six factors is from the smallest to the largest", () => {
  expect(interval([3, 1, 2, 6, 5, 4])).toEqual({ factor: 3.5, low: 1, high: 6 });
});

test("the interval of twelve factors leaves out the two smallest and the two largest", () => {
  expect(interval([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])).toEqual({ factor: 6.5, low: 3, high: 10 });
});

test("one disturbed round of nine changes neither bound", () => {
  const quiet = interval([1.9, 2.1, 2, 1.9, 2.1, 2, 1.9, 2.1, 2]);
  expect(interval([1.9, 2.1, 2, 1.9, 2.1, 2, 1.9, 9, 2])).toEqual(quiet);
  expect(relativeMargin(quiet)).toBeCloseTo(0.05);
});

test("fewer than six factors have no bounds, and none has no factor", () => {
  expect(interval([2, 2, 2, 2, 2])).toEqual({ factor: 2, low: 0, high: Number.POSITIVE_INFINITY });
  expect(interval([]).factor).toBeNaN();
});
