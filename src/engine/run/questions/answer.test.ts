import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { MessageId } from "../../../protocol/ids.ts";
import type { Message } from "../../../protocol/message.ts";
import type { Part } from "../../../protocol/part.ts";
import { readAnswer, validateRaw } from "./answer.ts";

const message = (...parts: Part[]): Message => ({ messageId: "m" as MessageId, role: "user", parts });

function handWritten(validate: (value: unknown) => unknown): StandardSchemaV1 {
  return { "~standard": { version: 1, vendor: "by-hand", validate: validate as never } };
}

const BOOKING: ReadonlyArray<[string, StandardSchemaV1]> = [
  ["zod", z.object({ book: z.boolean() })],
  ["valibot", v.object({ book: v.boolean() })],
  ["arktype", type({ book: "boolean" })],
  [
    "a schema by hand",
    handWritten((value) =>
      typeof value === "object" && value !== null && "book" in value && typeof value.book === "boolean"
        ? { value }
        : { issues: [{ path: [{ key: "book" }], message: "expected boolean" }] },
    ),
  ],
];

describe.each(BOOKING)("an answer validated by %s", (_name, schema) => {
  test("is read from the data part", async () => {
    const checked = await readAnswer(schema, message({ text: "see data" }, { data: { book: true } }));
    expect(checked).toEqual({ ok: true, value: { book: true }, raw: { book: true } });
  });

  test("is read from text that is JSON", async () => {
    const checked = await readAnswer(schema, message({ text: ' {"book"' }, { text: ":false}\n" }));
    expect(checked).toEqual({ ok: true, value: { book: false }, raw: { book: false } });
  });

  test("is read from the text if the data is not valid", async () => {
    const checked = await readAnswer(schema, message({ data: 7 }, { text: '{"book":true}' }));
    expect(checked).toMatchObject({ ok: true, raw: { book: true } });
  });

  test("if invalid, names the field and its problem once", async () => {
    const checked = await readAnswer(schema, message({ data: { book: "perhaps" } }));
    if (checked.ok) throw new Error("accepted");
    expect(checked.problem).toMatch(/^book\b.*boolean/);
    expect(checked.problem.match(/book/g)).toHaveLength(1);
  });

  test("if sensitive, does not appear in the problem", async () => {
    const checked = await readAnswer(schema, message({ data: { book: "hunter2" } }), { sensitive: true });
    expect(checked).toEqual({ ok: false, problem: "The answer does not have the expected form." });
  });

  test("has the same value when validated again", async () => {
    expect(await validateRaw(schema, { book: true })).toEqual({ ok: true, value: { book: true }, raw: { book: true } });
    expect(await validateRaw(schema, { book: 1 })).toMatchObject({ ok: false });
  });
});

describe("readAnswer", () => {
  test.each<{ name: string; schema: StandardSchemaV1; text: string; value: unknown }>([
    { name: "a text schema gets the text, digits or not", schema: z.string(), text: "123", value: "123" },
    { name: "a text schema gets the text as it is", schema: z.string(), text: " a ", value: " a " },
    { name: "a number schema gets a number", schema: z.number(), text: "42", value: 42 },
    { name: "a choice is found in spite of blanks", schema: z.enum(["yes", "no"]), text: " yes\n", value: "yes" },
    { name: "a boolean schema gets a boolean", schema: z.boolean(), text: "true", value: true },
    { name: "an empty text is an answer", schema: z.string(), text: "", value: "" },
  ])("$name", async ({ schema, text, value }) => {
    expect(await readAnswer(schema, message({ text }))).toMatchObject({ ok: true, value });
  });

  test("returns the value of the schema, and the raw value for a replay", async () => {
    const checked = await readAnswer(
      z.string().transform((text) => new Date(text)),
      message({ text: "2030-01-01" }),
    );
    expect(checked).toEqual({ ok: true, value: new Date("2030-01-01"), raw: "2030-01-01" });
  });

  test("accepts null as data", async () => {
    expect(await readAnswer(z.null(), message({ data: null }))).toEqual({ ok: true, value: null, raw: null });
  });

  test("validates the parts of an answer that has only files", async () => {
    const schema = z.array(z.object({ url: z.string(), filename: z.string().optional() })).length(1);
    const checked = await readAnswer(schema, message({ url: "https://example.org/a", filename: "a" }));
    expect(checked).toMatchObject({ ok: true, value: [{ url: "https://example.org/a", filename: "a" }] });
  });

  test("without a schema the answer is the text, or the data as JSON", async () => {
    expect(await readAnswer(undefined, message({ text: "a" }, { data: 1 }, { text: "b" }))).toMatchObject({
      value: "ab",
    });
    expect(await readAnswer(undefined, message({ data: { a: 1 } }))).toMatchObject({
      value: '{"a":1}',
      raw: '{"a":1}',
    });
    expect(await readAnswer(undefined, message({ url: "https://example.org/a" }))).toMatchObject({ value: "" });
    expect(await validateRaw(undefined, "kept")).toEqual({ ok: true, value: "kept", raw: "kept" });
  });

  test("waits for an asynchronous schema", async () => {
    const taken = new Set(["anna"]);
    const schema = z.string().refine(async (name) => !taken.has(name), "is taken");
    expect(await readAnswer(schema, message({ text: "anna" }))).toEqual({ ok: false, problem: "is taken" });
    expect(await readAnswer(schema, message({ text: "berta" }))).toMatchObject({ ok: true });
  });

  test("names nested fields, and only the first few", async () => {
    const schema = z.object({ guests: z.array(z.object({ age: z.number() })) });
    const guests = Array.from({ length: 9 }, () => ({ age: "?" }));
    const checked = await readAnswer(schema, message({ data: { guests } }));
    expect(checked).toMatchObject({ ok: false, problem: expect.stringMatching(/^guests\[0\]\.age: .*; and 4 more$/) });
  });

  test("reports the problem of the structured answer, not that of its text", async () => {
    const schema = z
      .object({ from: z.number(), to: z.number() })
      .refine(({ from, to }) => from < to, "ends before it starts");
    const checked = await readAnswer(schema, message({ text: '{"from":2,"to":1}' }));
    expect(checked).toEqual({ ok: false, problem: "ends before it starts" });
  });

  test.each<[string, StandardSchemaV1]>([
    [
      "throws",
      handWritten(() => {
        throw new Error("password=1234");
      }),
    ],
    ["rejects", handWritten(() => Promise.reject(new Error("password=1234")))],
    ["answers with nothing", handWritten(() => undefined)],
  ])("a schema that %s refuses without its words", async (_name, schema) => {
    const checked = await readAnswer(schema, message({ text: "a" }));
    expect(checked).toEqual({ ok: false, problem: "The answer could not be checked." });
  });

  test("reports a problem even if the schema gives no reason", async () => {
    const checked = await readAnswer(
      handWritten(() => ({ issues: [] })),
      message({ text: "a" }),
    );
    expect(checked).toEqual({ ok: false, problem: "The answer does not have the expected form." });
  });

  test("treats JSON text with a million levels as plain text", async () => {
    const text = "[".repeat(1_000_000) + "]".repeat(1_000_000);
    expect(await readAnswer(z.any(), message({ text }))).toMatchObject({ ok: true, raw: text });
  });

  test("keeps the problem short whatever was sent", async () => {
    const long = "x".repeat(100_000);
    const schema = handWritten((value) => ({ issues: [{ path: [long], message: `${String(value)} is wrong` }] }));
    const checked = await readAnswer(schema, message({ text: long }));
    expect(checked.ok ? "" : checked.problem).toMatch(/^x{200}…: x{200}…$/);
  });
});
