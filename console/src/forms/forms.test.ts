import { describe, expect, it } from "vitest";
import { checkDraft, initialDraft } from "./field-value.ts";
import { fieldOf, limitsOf } from "./schema-field.ts";

const ORDER = fieldOf({
  type: "object",
  required: ["tonnes", "mail", "mills"],
  properties: {
    tonnes: { type: "integer", minimum: 1, maximum: 500, default: 40 },
    mail: { type: "string", format: "email" },
    mills: { type: "array", items: { enum: ["North", "South"] }, minItems: 1 },
    dietaryNeeds: { type: "string", maxLength: 80 },
    express: { type: "boolean" },
    grade: { oneOf: [{ const: "a", title: "Best" }, { const: "b" }] },
    extra: { type: "array", items: { type: "object" } },
    password: { type: "string", writeOnly: true },
  },
});

describe("the form of a JSON Schema", () => {
  it("has a field for each member, with a label and limits in words", () => {
    expect(ORDER.fields.map(({ kind }) => kind)).toEqual([
      ...["number", "text", "several", "text", "boolean", "choice", "json", "password"],
    ]);
    expect(ORDER.fields.map(({ label }) => label)).toEqual([
      ...["Tonnes", "Mail", "Mills", "Dietary needs", "Express", "Grade", "Extra", "Password"],
    ]);
    expect(ORDER.fields.slice(0, 4).map(limitsOf)).toEqual([
      ...["a whole number, 1 to 500", "an e-mail address", "1 at least", "at most 80 characters"],
    ]);
  });

  it("begins with the defaults, and leaves out optional fields that are empty", () => {
    const draft = {
      ...(initialDraft(ORDER) as object),
      mail: "a@example.org",
      mills: ["North"],
      grade: '"a"',
      express: false,
    };
    expect(checkDraft(ORDER, draft)).toEqual({
      ok: true,
      value: { tonnes: 40, mail: "a@example.org", mills: ["North"], grade: "a", express: false },
    });
  });

  it("names what is wrong, by field", () => {
    const checked = checkDraft(ORDER, { tonnes: "900", mail: "a", mills: [], extra: "{" });
    expect(checked.ok ? [] : [...checked.problems]).toEqual([
      ["tonnes", "must be at most 500"],
      ["mail", "is not an e-mail address yet"],
      ["mills", "choose at least 1"],
      ["extra", "is not valid JSON"],
    ]);
  });

  it.each([
    [{ type: "string" }, "hello", "hello"],
    [{ type: "number" }, "1.5", 1.5],
    [{ enum: [1, 2, null] }, "null", null],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, '{"any":"thing"}', { any: "thing" }],
    [{}, "[1]", [1]],
  ])("reads an answer that is not an object: %j", (schema, typed, value) => {
    expect(checkDraft(fieldOf(schema), typed)).toEqual({ ok: true, value });
  });

  it.each([
    { type: "wrong" },
    { properties: null, type: "object" },
    { enum: "x" },
    { oneOf: [1] },
    { type: ["string", "null"] },
  ])("offers JSON for a schema that it cannot show: %j", (schema) => {
    expect(fieldOf(schema as Readonly<Record<string, unknown>>).kind).toBe("json");
  });

  it("does not run the pattern of an agent, which may take for ever", () => {
    const field = fieldOf({ type: "string", pattern: "^(a+)+$" });
    expect(checkDraft(field, `${"a".repeat(60)}!`).ok).toBe(true);
  });
});
