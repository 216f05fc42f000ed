import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, limitsFrom } from "./limits.ts";

describe("limitsFrom", () => {
  test("returns the defaults without options", () => {
    expect(limitsFrom()).toEqual(DEFAULT_LIMITS);
    expect(limitsFrom({ maxInbox: undefined })).toEqual(DEFAULT_LIMITS);
  });

  test("overrides only the given limits", () => {
    expect(limitsFrom({ maxInbox: 5, maxTaskBytes: Number.POSITIVE_INFINITY })).toEqual({
      ...DEFAULT_LIMITS,
      maxInbox: 5,
      maxTaskBytes: Number.POSITIVE_INFINITY,
    });
  });

  test.each([0, -1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 60, "5" as never, null as never])(
    "throws for %s",
    (value) => {
      expect(() => limitsFrom({ maxInbox: value })).toThrow(TypeError);
      expect(() => limitsFrom({ maxInbox: value })).toThrow(/maxInbox must be a whole number/);
    },
  );

  test("lists every invalid and every unknown limit", () => {
    const wrong = { maxInbox: 0, tailBytes: -1, maxInbocks: 3, toString: 4 };
    expect(() => limitsFrom(wrong as never)).toThrow(
      /maxInbox must.*tailBytes must.*unknown limit "maxInbocks".*unknown limit "toString"/,
    );
  });

  test("the defaults are consistent with each other", () => {
    expect(DEFAULT_LIMITS.maxEventBytes).toBeLessThan(DEFAULT_LIMITS.maxTaskBytes);
    expect(DEFAULT_LIMITS.maxSubscribersPerTask).toBeLessThanOrEqual(DEFAULT_LIMITS.maxSubscribers);
    expect(limitsFrom({ ...DEFAULT_LIMITS })).toEqual(DEFAULT_LIMITS);
  });
});
