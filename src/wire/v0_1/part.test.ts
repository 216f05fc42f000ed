import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { decodePart, decodeRemotePart } from "../v0_3/part.ts";
import { part, SAMPLES } from "../v0_3/test/models.ts";
import { newerPart, partObject } from "./part.ts";

describe("A 0.1 part", () => {
  it.each([
    ["text", { text: "x" }, { type: "text", text: "x" }],
    [
      "a file",
      { raw: "aGk=", mediaType: "a/b", filename: "c" },
      { type: "file", file: { bytes: "aGk=", mimeType: "a/b", name: "c" } },
    ],
    [
      "a reference",
      { url: "https://x/y", metadata: { a: 1 } },
      { type: "file", file: { uri: "https://x/y" }, metadata: { a: 1 } },
    ],
    ["data", { data: { a: 1 } }, { type: "data", data: { a: 1 } }],
    [
      "data that is no object",
      { data: [1] },
      { type: "data", data: { value: [1] }, metadata: { data_part_compat: true } },
    ],
    ["text of a type", { text: "x", mediaType: "a/b" }, { type: "text", text: "x", metadata: { mediaType: "a/b" } }],
  ])("is encoded with its type: %s", (_what, neutral, wire) => {
    expect(partObject(neutral)).toEqual(wire);
  });

  it("decodes to the encoded value", () => {
    fc.assert(
      fc.property(part, (source) => {
        const wire: unknown = JSON.parse(JSON.stringify(partObject(source)));
        expect(decodePart(newerPart(wire), "p")).toEqual(source);
        expect(decodeRemotePart(newerPart(wire), "p")).toEqual(source);
      }),
      { ...SAMPLES, numRuns: sampled(62, 500) },
    );
  });

  it.each([
    [{ type: "file", file: { name: "a.txt" } }, { data: { file: { name: "a.txt" } } }],
    [
      { file: {}, metadata: { a: 1 } },
      { data: { file: {} }, metadata: { a: 1 } },
    ],
    [{ kind: "file", file: { bytes: null, mimeType: "a/b" } }, { data: { file: { bytes: null, mimeType: "a/b" } } }],
    [{ type: "file", file: { name: "a" }, text: null, data: null }, { data: { file: { name: "a" } } }],
  ])("may be a file without content: %j", (wire, expected) => {
    expect(decodePart(newerPart(wire), "p")).toEqual(expected);
  });

  it.each([
    [{ type: "text", file: { name: "a" } }, "p"],
    [{ type: "file", file: { name: "a" }, text: "x" }, "p"],
    [{ type: "file", file: { name: "a" }, data: {} }, "p"],
    [{ type: "file", file: "a" }, "p.file"],
    [{ type: "file" }, "p.file"],
    [{ type: "file", file: { uri: "" } }, "p.file.uri"],
    [null, "p"],
  ])("is refused if it is invalid otherwise: %j", (wire, field) => {
    expect(() => decodePart(newerPart(wire), "p")).toThrow(
      expect.objectContaining({ code: "invalid-params", violations: [expect.objectContaining({ field })] }),
    );
  });
});
