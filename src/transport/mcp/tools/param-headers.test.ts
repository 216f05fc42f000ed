import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../protocol/json.ts";
import { headerProblem, paramHeadersOf, withValidHeaders } from "./param-headers.ts";

const region = { type: "string", "x-mcp-header": "Region" };

const schemaOf = (properties: JsonObject): JsonObject => ({ type: "object", properties });

describe("the headers that a schema asks for", () => {
  it("are those of properties, at any depth", () => {
    const deep = { type: "object", properties: { id: { type: "integer", "x-mcp-header": "Id" } } };
    expect(paramHeadersOf(schemaOf({ region, deep, other: { type: "string" } }))).toEqual([
      { header: "Mcp-Param-Region", path: ["region"] },
      { header: "Mcp-Param-Id", path: ["deep", "id"] },
    ]);
  });

  it("may belong to a property that is named like the annotation", () => {
    expect(paramHeadersOf(schemaOf({ "x-mcp-header": region }))).toEqual([
      { header: "Mcp-Param-Region", path: ["x-mcp-header"] },
    ]);
    expect(paramHeadersOf(schemaOf({ a: { type: "object", default: { "x-mcp-header": 1 } } }))).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ["an empty name", schemaOf({ a: { type: "string", "x-mcp-header": "" } })],
    ["a name that is no text", schemaOf({ a: { type: "string", "x-mcp-header": 1 } })],
    ["a line break in the name", schemaOf({ a: { type: "string", "x-mcp-header": "A\r\nB" } })],
    ["a space in the name", schemaOf({ a: { type: "string", "x-mcp-header": "A B" } })],
    ["two names that differ in case only", schemaOf({ a: region, b: { type: "string", "x-mcp-header": "REGION" } })],
    ["a number", schemaOf({ a: { type: "number", "x-mcp-header": "A" } })],
    ["a list", schemaOf({ a: { type: "array", "x-mcp-header": "A" } })],
    ["items of a list", schemaOf({ a: { type: "array", items: region } })],
    ["one of several schemas", { type: "object", anyOf: [schemaOf({ a: region })] }],
    ["a definition", { type: "object", $defs: { region } }],
    ["the whole schema", { type: "object", "x-mcp-header": "All" }],
  ])("are none if an annotation is wrong: %s", (_title, schema) => {
    expect(paramHeadersOf(schema)).toBeUndefined();
    const stripped = withValidHeaders(schema);
    expect(JSON.stringify(stripped)).not.toContain("x-mcp-header");
    expect(paramHeadersOf(stripped)).toEqual([]);
  });
});

describe("the headers of a call", () => {
  const schema = schemaOf({
    region,
    count: { type: "integer", "x-mcp-header": "Count" },
    isUrgent: { type: "boolean", "x-mcp-header": "Urgent" },
  });
  const problem = (args: JsonObject, headers: Readonly<Record<string, string>>): string | undefined =>
    headerProblem(paramHeadersOf(schema) ?? [], { args, header: (name) => headers[name] });

  it.each<[JsonValue, string]>([
    ["eu", "eu"],
    ["Zürich", `=?base64?${Buffer.from("Zürich").toString("base64")}?=`],
    ["SGVsbG8=", "SGVsbG8="],
    ["=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
    ["", ""],
  ])("may be plain or encoded: %s", (value, header) => {
    expect(problem({ region: value }, { "mcp-param-region": header })).toBeUndefined();
  });

  it("are compared as numbers and truth values", () => {
    expect(problem({ count: 42, isUrgent: true }, { "mcp-param-count": "42.0", "mcp-param-urgent": "true" })).toBe(
      undefined,
    );
    expect(problem({ count: 42 }, { "mcp-param-count": "0x2a" })).toContain("differs from the argument count");
    expect(problem({ isUrgent: true }, { "mcp-param-urgent": "True" })).toContain("differs");
  });

  it("are not expected for arguments that are absent or null", () => {
    expect(problem({ region: null }, {})).toBeUndefined();
    expect(problem({}, { "mcp-param-region": "eu" })).toBeUndefined();
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ["a missing one", {}, "Mcp-Param-Region is missing"],
    ["another value", { "mcp-param-region": "us" }, "differs from the argument region"],
    ["base64 without padding", { "mcp-param-region": "=?base64?SGVsbG8?=" }, "is not valid base64"],
    ["base64 with other characters", { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }, "is not valid base64"],
    ["base64 of invalid UTF-8", { "mcp-param-region": "=?base64?/w==?=" }, "is not valid base64 of UTF-8"],
  ])("are refused: %s", (_title, headers, text) => {
    expect(problem({ region: "eu" }, headers)).toContain(text);
  });
});
