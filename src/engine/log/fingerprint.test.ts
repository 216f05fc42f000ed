import { describe, expect, test } from "vitest";
import { fingerprint } from "./fingerprint.ts";

/** All texts over an alphabet, shortest first. */
function textsOver(alphabet: string, count: number): string[] {
  const texts = [""];
  for (let index = 0; texts.length < count; index += 1) {
    for (const letter of alphabet) texts.push((texts[index] ?? "") + letter);
  }
  return texts.slice(0, count);
}

describe("fingerprint", () => {
  test("does not change between releases, because logs store it", () => {
    expect(fingerprint("")).toBe("1g4gsxj1bkv6ql");
    expect(fingerprint("hello")).toBe("1nlvybo0rgk6er");
    expect(fingerprint("Zürich \u{1f600}")).toBe("0g7ioq91c0abdd");
  });

  test.each([
    ["two letters", textsOver("ab", 100_000)],
    ["ten digits", textsOver("0123456789", 100_000)],
    ["two code units that differ in the high byte", textsOver("\u0100\u0200", 100_000)],
    ["one letter repeated", Array.from({ length: 3000 }, (_, length) => "a".repeat(length))],
    ["a counter in a sentence", Array.from({ length: 100_000 }, (_, index) => `{"text":"chunk ${index}"}`)],
  ])("tells apart 100,000 texts over %s", (_name, texts) => {
    expect(new Set(texts.map(fingerprint)).size).toBe(texts.length);
  });

  test("distributes similar texts evenly over all bits of both hashes", () => {
    const texts = textsOver("ab", 20_000);
    const ones = Array.from({ length: 64 }, () => 0);
    for (const text of texts) {
      const print = fingerprint(text);
      for (const [half, digits] of [print.slice(0, 7), print.slice(7)].entries()) {
        const bits = Number.parseInt(digits, 36);
        for (let bit = 0; bit < 32; bit += 1)
          ones[half * 32 + bit] = (ones[half * 32 + bit] ?? 0) + ((bits >>> bit) & 1);
      }
    }
    // Six standard deviations around the half of 20,000.
    for (const count of ones) expect(Math.abs(count - texts.length / 2)).toBeLessThan(6 * Math.sqrt(texts.length / 4));
  });

  test("always has the same length", () => {
    for (const text of textsOver("xyz", 2000)) expect(fingerprint(text)).toMatch(/^[0-9a-z]{14}$/);
  });
});
