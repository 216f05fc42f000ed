import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { fieldRefused } from "../test/hostile.ts";
import { decodePart, decodeRemotePart, partObject } from "./part.ts";
import { part, SAMPLES } from "./test/models.ts";

describe("A 0.3 part", () => {
  it.each([
    ["text", { kind: "text", text: "x" }, { text: "x" }],
    ["text by its older tag", { type: "text", text: "x" }, { text: "x" }],
    ["text without a tag", { text: "" }, { text: "" }],
    ["text whose tag is null", { kind: null, text: "x" }, { text: "x" }],
    ["text beside nothing", { text: "x", file: null, data: null }, { text: "x" }],
    ["an inline file", { kind: "file", file: { bytes: "aGk=" } }, { raw: "aGk=" }],
    ["an empty file", { kind: "file", file: { bytes: "" } }, { raw: "" }],
    ["a file in the other alphabet", { kind: "file", file: { bytes: "-_8" } }, { raw: "+/8=" }],
    ["a file with data, as in examples", { type: "file", file: { data: "aGk=" } }, { raw: "aGk=" }],
    ["a file by reference", { kind: "file", file: { uri: "https://x/y" } }, { url: "https://x/y" }],
    ["a reference with url", { file: { url: "https://x/y" } }, { url: "https://x/y" }],
    [
      "a file with name and type",
      { kind: "file", file: { bytes: "aGk=", name: "a.txt", mimeType: "text/plain" }, metadata: { a: 1 } },
      { raw: "aGk=", filename: "a.txt", mediaType: "text/plain", metadata: { a: 1 } },
    ],
    ["data", { kind: "data", data: { a: [1] } }, { data: { a: [1] } }],
    ["data that is no object", { kind: "data", data: [1] }, { data: [1] }],
    ["null as data", { kind: "data", data: null }, { data: null }],
    ["null as data without a tag", { data: null }, { data: null }],
    ["wrapped data", { kind: "data", data: { value: [1] }, metadata: { data_part_compat: true } }, { data: [1] }],
    [
      "wrapped data with metadata",
      { kind: "data", data: { value: null }, metadata: { data_part_compat: true, mediaType: "a/b", x: 1 } },
      { data: null, mediaType: "a/b", metadata: { x: 1 } },
    ],
    [
      "data that only looks wrapped",
      { kind: "data", data: { value: 1, more: 2 }, metadata: { data_part_compat: true } },
      { data: { value: 1, more: 2 }, metadata: { data_part_compat: true } },
    ],
    [
      "text with its media type and file name in the metadata",
      { kind: "text", text: "x", metadata: { mediaType: "text/markdown", filename: "a.md", x: 1 } },
      { text: "x", mediaType: "text/markdown", filename: "a.md", metadata: { x: 1 } },
    ],
    [
      "text with something else called so",
      { kind: "text", text: "x", metadata: { mediaType: 5, filename: "" } },
      { text: "x", metadata: { mediaType: 5, filename: "" } },
    ],
    [
      "what a tool gave",
      { kind: "tool-result", toolUseId: "q", result: { value: 1 } },
      { data: { toolUseId: "q", result: { value: 1 } }, metadata: { kind: "tool-result" } },
    ],
    [
      "nothing, as what a tool gave",
      { type: "tool-result", toolUseId: "q", result: null, metadata: { a: 1 } },
      { data: { toolUseId: "q", result: null }, metadata: { a: 1, kind: "tool-result" } },
    ],
    [
      "the use of a tool",
      { kind: "tool-use", toolUseId: "q", name: "search", input: ["a"] },
      { data: { toolUseId: "q", name: "search", input: ["a"] }, metadata: { kind: "tool-use" } },
    ],
    [
      "the use of a tool that wants nothing",
      { kind: "tool-use", toolUseId: "q", name: "now" },
      { data: { toolUseId: "q", name: "now" }, metadata: { kind: "tool-use" } },
    ],
  ])("may be %s", (_what, wire, expected) => {
    expect(decodePart(wire, "p")).toEqual(expected);
    expect(decodeRemotePart(wire, "p")).toEqual(expected);
  });

  it.each([
    ["null", null, "p"],
    ["text itself", "x", "p"],
    ["a list", [], "p"],
    ["nothing", {}, "p"],
    ["nothing but nulls", { text: null, file: null }, "p"],
    ["of no kind we know", { kind: "image", text: "x" }, "p.kind"],
    ["of a kind that is a number", { kind: 1, text: "x" }, "p.kind"],
    ["of no type we know", { type: "image", text: "x" }, "p.type"],
    ["a kind in capitals", { kind: "Text", text: "x" }, "p.kind"],
    ["another kind than it says", { kind: "text", data: {} }, "p"],
    ["of a kind without its content", { kind: "text" }, "p.text"],
    ["a file part without a file", { kind: "file" }, "p.file"],
    ["a data part without data", { kind: "data" }, "p.data"],
    ["two things at once", { text: "x", data: {} }, "p"],
    ["two things, one of them named", { kind: "text", text: "x", file: { uri: "u" } }, "p"],
    ["a number as text", { kind: "text", text: 5 }, "p.text"],
    ["a string as a file", { kind: "file", file: "abc" }, "p.file"],
    ["a file of nothing", { kind: "file", file: {} }, "p.file"],
    ["a file twice", { kind: "file", file: { bytes: "", uri: "u" } }, "p.file"],
    ["a file twice by one name and its other", { kind: "file", file: { bytes: "", data: "" } }, "p.file"],
    ["a file that is not base64", { kind: "file", file: { bytes: "%%%" } }, "p.file.bytes"],
    ["a file whose bytes are a number", { kind: "file", file: { bytes: 5 } }, "p.file.bytes"],
    ["a file that is not base64, by its other name", { kind: "file", file: { data: "a" } }, "p.file.data"],
    ["a file at no address", { kind: "file", file: { uri: "" } }, "p.file.uri"],
    ["a file whose name is a number", { kind: "file", file: { uri: "u", name: 1 } }, "p.file.name"],
    ["a file whose type is a list", { kind: "file", file: { uri: "u", mimeType: [] } }, "p.file.mimeType"],
    ["text with a list for metadata", { kind: "text", text: "x", metadata: [] }, "p.metadata"],
    ["data that nests too deep", { kind: "data", data: nested(65) }, "p.data"],
    ["a tool result without toolUseId", { kind: "tool-result", result: 1 }, "p.toolUseId"],
    ["what a tool did not give", { kind: "tool-result", toolUseId: "q" }, "p.result"],
    ["what a tool gave too deep", { kind: "tool-result", toolUseId: "q", result: nested(65) }, "p.result"],
    ["the use of a tool without a name", { kind: "tool-use", toolUseId: "q" }, "p.name"],
    ["a tool with a list for metadata", { kind: "tool-use", toolUseId: "q", name: "n", metadata: [] }, "p.metadata"],
    ["metadata that nests too deep", { kind: "text", text: "", metadata: { a: nested(64) } }, "p.metadata"],
  ])("must not be %s", (_what, wire, field) => {
    expect(fieldRefused(() => decodePart(wire, "p"))).toBe(field);
  });

  it.each<[string, object, string]>([
    ["text by its older tag", { type: "text", text: "x" }, "p.kind"],
    ["text without a tag", { text: "x" }, "p.kind"],
    ["a file with data, as in examples", { kind: "file", file: { data: "aGk=" } }, "p.file"],
    ["a reference with url", { kind: "file", file: { url: "https://x/y" } }, "p.file"],
    ["what a tool gave", { kind: "tool-result", toolUseId: "q", result: 1 }, "p.kind"],
    ["the use of a tool", { kind: "tool-use", toolUseId: "q", name: "n" }, "p.kind"],
  ])("must not be %s with strict parsing", (_what, wire, field) => {
    expect(fieldRefused(() => decodePart(wire, "p"))).toBeUndefined();
    expect(fieldRefused(() => decodePart(wire, "p", { tag: "kind", lenient: false }))).toBe(field);
  });

  it("is decoded by its kind or type only, with strict parsing", () => {
    const strict = { tag: "kind", lenient: false } as const;
    expect(decodePart({ kind: "text", type: "file", text: "x" }, "p", strict)).toEqual({ text: "x" });
    expect(decodePart({ kind: "file", file: { uri: "u", url: "v" } }, "p", strict)).toEqual({ url: "u" });
    const older = { tag: "type", lenient: false } as const;
    expect(decodePart({ kind: "file", type: "text", text: "x" }, "p", older)).toEqual({ text: "x" });
    expect(fieldRefused(() => decodePart({ kind: "text", text: "x" }, "p", older))).toBe("p.type");
  });

  it("has the same maximum depth with and without wrapper", () => {
    const data = nested(64);
    expect(decodePart({ kind: "data", data: { value: data }, metadata: { data_part_compat: true } }, "p")).toEqual({
      data,
    });
  });

  it("from an agent, is decoded by its content, whatever its kind", () => {
    expect(decodeRemotePart({ kind: "image", file: { uri: "u" } }, "p")).toEqual({ url: "u" });
  });

  it("has kind as the first member", () => {
    fc.assert(
      fc.property(part, (source) => Object.keys(partObject(source))[0] === "kind"),
      SAMPLES,
    );
  });

  it("always has an object as data", () => {
    expect(partObject({ data: [1] })).toEqual({
      kind: "data",
      data: { value: [1] },
      metadata: { data_part_compat: true },
    });
    expect(partObject({ data: { value: 1 } })).toEqual({ kind: "data", data: { value: 1 } });
  });

  it("has media type and file name of text in its metadata, and keeps members of the same names", () => {
    const metadata = { mediaType: "own", _mediaType: "older", x: 1 };
    expect(partObject({ text: "x", mediaType: "text/markdown", filename: "a.md", metadata })).toEqual({
      kind: "text",
      text: "x",
      metadata: { mediaType: "text/markdown", filename: "a.md", _mediaType: "own", __mediaType: "older", x: 1 },
    });
  });

  it("decodes to the encoded value", () => {
    fc.assert(
      fc.property(part, (source) => {
        const wire: unknown = JSON.parse(JSON.stringify(partObject(source)));
        expect(decodePart(wire, "p")).toEqual(source);
        expect(decodePart(wire, "p", { tag: "kind", lenient: false })).toEqual(source);
        expect(decodeRemotePart(wire, "p")).toEqual(source);
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
  });
});

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}
