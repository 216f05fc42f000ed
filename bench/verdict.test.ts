import { expect, test } from "vitest";
import { judge } from "./verdict.ts";

test("up to 3 % more processor time passes", () => {
  expect(judge({ factor: 1.02, low: 1.01, high: 1.03 })).toEqual({ ok: true, reason: "more, within 3 %" });
});

test("over 3 % more fails if the interval excludes the earlier cost", () => {
  expect(judge({ factor: 1.05, low: 1.01, high: 1.09 })).toEqual({ ok: false, reason: "more" });
});

test("over 3 % more passes while the interval holds the earlier cost", () => {
  const verdict = judge({ factor: 1.05, low: 0.98, high: 1.12 });
  expect(verdict).toEqual({ ok: true, reason: "no difference within the interval" });
});

test("a gain is reported if the whole interval lies below the earlier cost", () => {
  expect(judge({ factor: 0.9, low: 0.85, high: 0.95 })).toEqual({ ok: true, reason: "less" });
  expect(judge({ factor: 0.98, low: 0.95, high: 1.01 })).toEqual({ ok: true, reason: "no difference" });
});

test("a missing measurement fails", () => {
  expect(judge({ factor: Number.NaN, low: Number.NaN, high: Number.NaN }).ok).toBe(false);
});
