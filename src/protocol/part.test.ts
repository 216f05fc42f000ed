import { expect, test } from "vitest";
import { textOf } from "./part.ts";

test("the text of parts is the concatenation of the text parts", () => {
  expect(textOf([{ text: "a" }, { data: "x" }, { text: "" }, { raw: "eA==" }, { text: " b" }])).toBe("a b");
  expect(textOf([{ data: { text: "x" } }])).toBe("");
});
