import { expect, test } from "vitest";
import { judge } from "./verdict.ts";

test("a loss of up to 5 % of the median passes", () => {
  expect(judge([100, 100, 100], [96, 96, 96])).toMatchObject({ ok: true, reason: "within 5 %" });
});

test("a larger loss passes while the median lies within the earlier figures", () => {
  expect(judge([80, 100, 110], [85, 82, 90])).toMatchObject({ ok: true, reason: "within the spread" });
});

test("a median below all earlier figures fails", () => {
  const verdict = judge([95, 100, 110], [85, 90, 120]);
  expect(verdict).toMatchObject({ ok: false, reason: "slower" });
  expect(verdict.change).toBeCloseTo(-0.1);
});

test("a gain is reported as quicker", () => {
  expect(judge([100, 100], [120, 130])).toMatchObject({ ok: true, reason: "quicker" });
});

test("a missing measurement fails", () => {
  expect(judge([100], []).ok).toBe(false);
  expect(judge([], [100]).ok).toBe(false);
});
