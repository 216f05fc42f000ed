import { describe, expect, it } from "vitest";
import { CALL_PATH_KEY, callPathIn, joinCallPaths, MAX_CALL_PATH, parseCallPath, writeCallPath } from "./call-path.ts";

const entries = (count: number): string[] => Array.from({ length: count }, (_, index) => `server-${index}/agent`);

describe("the header's value", () => {
  it("is parsed to the path that was written", () => {
    expect(parseCallPath(writeCallPath(entries(MAX_CALL_PATH)))).toEqual(entries(MAX_CALL_PATH));
  });

  it("is an empty path if it is empty", () => {
    expect(parseCallPath(" ")).toEqual([]);
  });

  it.each([
    ["an empty entry", "a/b,,c/d"],
    ["a space in an entry", "a b"],
    ["a quote", '"a/b"'],
    ["an entry of 161 characters", "x".repeat(161)],
    ["65 entries", entries(65).join(",")],
    ["100 000 characters", "a,".repeat(50_000)],
  ])("is refused, with the header's name, if it has %s", (_, value) => {
    expect(() => parseCallPath(value)).toThrow(
      expect.objectContaining({ code: "invalid-params", message: expect.stringMatching(/^Palaver-Call-Path: /) }),
    );
  });
});

describe("the member of the metadata", () => {
  it("is an array of entries", () => {
    expect(callPathIn({ [CALL_PATH_KEY]: ["a/b"] })).toEqual(["a/b"]);
    expect(callPathIn({})).toEqual([]);
  });

  it.each([
    ["a text", "a/b"],
    ["a number in it", [1]],
    ["65 entries", entries(65)],
    ["null", null],
  ])("is refused, with its name, if it is %s", (_, value) => {
    expect(() => callPathIn({ [CALL_PATH_KEY]: value })).toThrow(
      expect.objectContaining({ code: "invalid-params", message: expect.stringContaining(CALL_PATH_KEY) }),
    );
  });
});

describe("two merged paths", () => {
  it("have all entries of both, the longer path first", () => {
    expect(joinCallPaths(["a"], ["a", "b"])).toEqual(["a", "b"]);
    expect(joinCallPaths(["x", "y"], ["b"])).toEqual(["x", "y", "b"]);
    expect(joinCallPaths([], [])).toEqual([]);
  });

  it("never exceed the maximum number of entries", () => {
    expect(joinCallPaths(entries(64), ["other"])).toHaveLength(64);
  });
});
