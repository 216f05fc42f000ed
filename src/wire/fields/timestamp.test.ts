import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeTimestamp } from "./timestamp.ts";

describe("A timestamp", () => {
  it.each([
    ["1970-01-01T00:00:00Z", 0],
    ["1970-01-01T00:00:00.5Z", 500],
    ["1970-01-01T00:00:00.001Z", 1],
    ["1970-01-01T00:00:00.000000001Z", 1],
    ["1970-01-01T00:00:00.123456789Z", 124],
    ["1970-01-01T01:00:00+01:00", 0],
    ["1969-12-31T23:30:00-00:30", 0],
    ["2024-02-29T12:00:00.000Z", Date.UTC(2024, 1, 29, 12)],
    ["0099-01-01T00:00:00Z", Date.parse("0099-01-01T00:00:00Z")],
  ])("%s is decoded as %d ms", (text, expected) => {
    expect(decodeTimestamp(text, "at")).toBe(expected);
  });

  it("decodes the output of Date.toISOString", () => {
    const dates = fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
    fc.assert(fc.property(dates, (date) => decodeTimestamp(date.toISOString(), "at") === date.getTime()));
  });

  it.each([
    "",
    "now",
    "2026-02-29T00:00:00Z",
    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01T00:00:00",
    "+2026-01-01T00:00:00Z",
  ])("%j is refused", (text) => {
    expect(() => decodeTimestamp(text, "at")).toThrow(/^at: /);
  });
});
