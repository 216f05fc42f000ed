import { describe, expect, it } from "vitest";
import { queryOf } from "./query.ts";

describe("A query", () => {
  it.each([
    ["/tasks", []],
    ["/tasks?", []],
    [
      "/tasks?a=1&b=2",
      [
        ["a", "1"],
        ["b", "2"],
      ],
    ],
    [
      "/tasks?a=1&a=2",
      [
        ["a", "1"],
        ["a", "2"],
      ],
    ],
    [
      "/tasks?a=x+y&b=x%20y%2B",
      [
        ["a", "x y"],
        ["b", "x y+"],
      ],
    ],
    ["/tasks?a", [["a", ""]]],
    [
      "/tasks?&&=&a==&?",
      [
        ["", ""],
        ["a", "="],
        ["?", ""],
      ],
    ],
    ["/tasks?a=%00%E2%82%AC", [["a", "\0€"]]],
    ["/tasks?__proto__=1", [["__proto__", "1"]]],
  ])("of %s is parsed", (target, pairs) => {
    expect([...queryOf(target)]).toEqual(pairs);
  });

  it.each([
    ["/tasks?a=%", "a"],
    ["/tasks?a=%zz", "a"],
    ["/tasks?a=1&contextId=%E2%82", "contextId"],
    ["/tasks?a=%ff", "a"],
    ["/tasks?a=%C0%AF", "a"],
    ["/tasks?a=%ED%A0%80", "a"],
    ["/tasks?page%53ize=%2", "pageSize"],
    ["/tasks?%zz=1", "query"],
  ])("of %s is refused with the parameter name %s", (target, field) => {
    expect(() => queryOf(target)).toThrow(
      expect.objectContaining({ code: "invalid-params", violations: [expect.objectContaining({ field })] }),
    );
  });
});
