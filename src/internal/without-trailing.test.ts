import { describe, expect, it } from "vitest";
import { withoutTrailing } from "./without-trailing.ts";

describe("withoutTrailing", () => {
  it.each([
    ["", ""],
    ["/", ""],
    ["a", "a"],
    ["/a//b///", "/a//b"],
    ["///a", "///a"],
  ])("%j becomes %j", (text, expected) => {
    expect(withoutTrailing(text, "/")).toBe(expected);
  });
});
