import { expect, test } from "vitest";
import { originalText, storableText } from "./text.ts";

const TEXTS = ["", "plain", "👋 ü", "a\0b", "\uD800", "x\uDC00y", "\uE000", "\uE0000000", "\uE000e000", "\u001B"];

test("text is returned unchanged, whatever characters it has", () => {
  for (const text of TEXTS) expect(originalText(storableText(text))).toBe(text);
});

test("stored text has no NUL and no half of a surrogate pair, which PostgreSQL refuses", () => {
  for (const text of TEXTS) {
    expect(storableText(text)).not.toContain("\0");
    expect(storableText(text).isWellFormed()).toBe(true);
  }
  expect(storableText("plain 👋")).toBe("plain 👋");
});

test("stored text begins with the stored prefix exactly if the text begins with the prefix", () => {
  for (const text of TEXTS)
    for (const prefix of TEXTS)
      expect(storableText(text).startsWith(storableText(prefix))).toBe(text.startsWith(prefix));
});
