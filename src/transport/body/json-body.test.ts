import { describe, expect, it } from "vitest";
import { processorTime } from "../../internal/test/processor-time.ts";
import { parseJson } from "./json-body.ts";

const MB = 1_000_000;

/** A large body with this many levels. The brackets in its strings do not count. */
function nested(levels: number, ending = "]".repeat(levels - 1)): Buffer {
  return Buffer.from(`{"text":"\\"[{\\\\","more":"${"[".repeat(100_000)}","deep":${"[".repeat(levels - 1)}${ending}}`);
}

describe("parseJson", () => {
  it("refuses a large body with more than 1000 levels of nesting, and parses one with fewer", () => {
    expect(() => parseJson(nested(1001))).toThrow("The body has more than 1000 levels of nesting");
    expect(parseJson(nested(1000))).toMatchObject({ text: '"[{\\' });
    const objects = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    expect(() => parseJson(Buffer.from(objects))).toThrow("The body has more than 1000 levels of nesting");
  });

  it("counts levels, not brackets", () => {
    const wide = `[${'{"a":[]},'.repeat(20_000)}"]"]`;
    expect(parseJson(Buffer.from(wide))).toHaveLength(20_001);
  });

  it.each([
    ["an unterminated string", `["${"[".repeat(100_000)}`],
    ["a string that ends in a backslash", `["${"[".repeat(100_000)}\\`],
    ["brackets that close first", "]".repeat(100_000) + "[".repeat(100_000)],
  ])("refuses %s as invalid JSON", (_name, text) => {
    expect(() => parseJson(Buffer.from(text))).toThrow("The body is not valid JSON");
  });

  it("detects deep nesting in a tenth of the processor time of JSON.parse", () => {
    for (const unit of ["[", '{"a":', "[1,", ' [ "x" , ']) {
      const text = unit.repeat((2 * MB) / unit.length);
      const parse = processorTime(() => attempt(() => JSON.parse(text)));
      const bytes = Buffer.from(text);
      expect(processorTime(() => attempt(() => parseJson(bytes))) / parse).toBeLessThan(0.1);
    }
  });

  it.each([
    ["a long text", { text: 'Some words, "quoted", and a line.\n'.repeat(100_000) }],
    ["a file", { raw: "A".repeat(4 * MB) }],
    ["numbers", Array.from({ length: 500_000 }, (_, index) => index / 7)],
    ["rows", Array.from({ length: 30_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ["a", "b"], value: id / 8 }))],
  ])("reads %s in at most twice the processor time of JSON.parse", (_name, value) => {
    const bytes = Buffer.from(JSON.stringify(value));
    const parse = processorTime(() => JSON.parse(bytes.toString()));
    expect(processorTime(() => parseJson(bytes)) / parse).toBeLessThan(2);
  });
});

function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    // The text is invalid JSON.
  }
}
