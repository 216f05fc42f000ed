import { describe, expect, it } from "vitest";
import { processorTime } from "../../internal/test/processor-time.ts";
import { decodeBase64 } from "./base64.ts";

describe("decodeBase64", () => {
  it.each([
    ["", ""],
    ["AA==", "AA=="],
    ["AA", "AA=="],
    ["AA=", "AA=="],
    ["AAA", "AAA="],
    ["-_-_", "+/+/"],
    ["-_A", "+/A="],
    ["-_A=", "+/A="],
    ["+_==", "+/=="],
  ])("normalises %j to %j", (text, standard) => {
    expect(decodeBase64(text, "raw")).toBe(standard);
  });

  it.each(["A", "AAAAA", "AA===", "A=A=", "AA AA", "AA\n", "AAA!", "AAAé", "AA\u{1f642}", "\0AAA"])(
    "refuses %j and names the field",
    (text) => {
      expect(() => decodeBase64(text, "message.parts[0].raw")).toThrow("message.parts[0].raw: must be base64");
    },
  );

  it("takes at most 25 times the processor time of JSON.parse, whatever digits the text has", () => {
    const length = 4_000_000;
    const texts = ["-_".repeat(length / 2), "-".repeat(length), `${"A".repeat(length - 1)}_`, "A".repeat(length)];
    for (const text of texts) {
      const json = JSON.stringify(text);
      const parse = processorTime(() => JSON.parse(json));
      expect(processorTime(() => decodeBase64(text, "raw")) / parse).toBeLessThan(25);
    }
  });
});
