import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

describe("canonicalJson", () => {
  it.each([
    [
      "numbers",
      [JSON.parse("333333333.33333329"), 1e30, 4.5, 2e-3, 1e-27, -0],
      "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
    ],
    ["characters that must be escaped", "€$\u000F\u000aA'\u0042\"\\/", '"€$\\u000f\\nA\'B\\"\\\\/"'],
    ["literals", { literals: [null, true, false] }, '{"literals":[null,true,false]}'],
    [
      "names by their UTF-16 units",
      { "€": "a", "\r": "b", "\ufb33": "c", 1: "d", "😀": "e", "\u0080": "f", ö: "g" },
      '{"\\r":"b","1":"d","\u0080":"f","ö":"g","€":"a","😀":"e","\ufb33":"c"}',
    ],
    ["nested names", { b: { z: 1, a: [{ d: 1, c: 2 }] }, a: {} }, '{"a":{},"b":{"a":[{"c":2,"d":1}],"z":1}}'],
    ["a member named like the prototype", JSON.parse('{"b":1,"__proto__":2}'), '{"__proto__":2,"b":1}'],
  ])("writes %s as RFC 8785 does", (_what, value, spelling) => {
    expect(canonicalJson(value)).toBe(spelling);
  });

  it.each([
    ["infinity", { a: Number.POSITIVE_INFINITY }, "not finite"],
    ["a lone surrogate", ["\ud800"], "well-formed"],
    ["a lone surrogate in a name", { "\udfff": 1 }, "well-formed"],
    ["a value that is not JSON", { a: undefined }, "undefined"],
    ["a big integer", 1n, "bigint"],
    ["20 000 levels of nesting", JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`), "levels of nesting"],
  ])("refuses %s", (_what, value, reason) => {
    expect(() => canonicalJson(value)).toThrow(reason);
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it("does not depend on the order of members, and parses to the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme" }), (value) => {
        const spelling = canonicalJson(value);
        expect(JSON.parse(spelling)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(spelling);
        expect(canonicalJson(JSON.parse(spelling))).toBe(spelling);
      }),
    );
  });
});

/** The same value with its members in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
