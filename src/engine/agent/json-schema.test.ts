import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { inputSchemaOf } from "../../protocol/input-request.ts";
import { agentCard } from "../../server/card.ts";
import { openHarness, scripted } from "../../testing/engine-harness.ts";
import { agent, skill } from "./agent.ts";
import { jsonSchemaOf } from "./json-schema.ts";

const valibotSchema = v.object({ size: v.picklist(["s", "l"]) });
const size = { type: "object", properties: { size: { enum: ["s", "l"] } }, required: ["size"] };

describe("the JSON Schema of a schema", () => {
  test("comes from the library, if it supports Standard JSON Schema", () => {
    expect(jsonSchemaOf(z.object({ size: z.enum(["s", "l"]) }), undefined)).toMatchObject({
      type: "object",
      properties: { size: { enum: ["s", "l"] } },
      required: ["size"],
    });
    expect(jsonSchemaOf(type({ size: "'s' | 'l'" }), undefined)).toMatchObject({
      type: "object",
      required: ["size"],
    });
  });

  test("comes from the author otherwise, as an object or a function", () => {
    expect(jsonSchemaOf(valibotSchema, undefined)).toBeUndefined();
    expect(jsonSchemaOf(valibotSchema, { $schema: "x", ...size })).toEqual(size);
    expect(jsonSchemaOf(valibotSchema, () => size)).toEqual(size);
  });

  test("is absent for a schema that has none, and for one of more than 32 KB", () => {
    expect(jsonSchemaOf(z.date(), undefined)).toBeUndefined();
    expect(jsonSchemaOf(valibotSchema, { description: "x".repeat(40_000) })).toBeUndefined();
  });
});

describe("callers get the JSON Schema", () => {
  const skills = (jsonSchema: object | (() => object)) => [
    skill({
      id: "a",
      name: "A",
      description: "A.",
      tags: ["a"],
      input: valibotSchema,
      jsonSchema: jsonSchema as never,
      run: async () => "",
    }),
  ];
  const declare = (jsonSchema: object | (() => object)) =>
    agent({ name: "Sizes", description: "Sizes.", version: "1", skills: skills(jsonSchema) });

  test("of a skill on the card, by the extension", () => {
    expect(
      agentCard(
        declare(() => size),
        [],
      ).capabilities.extensions,
    ).toEqual([
      { uri: "urn:palaver:extension:input-schemas", description: expect.any(String), params: { skills: { a: size } } },
    ]);
    expect(
      agentCard(
        scripted(async () => ""),
        [],
      ).capabilities.extensions,
    ).toBeUndefined();
  });

  test("a converter that throws, or returns no object, is reported when the agent is declared", () => {
    const broken = () => {
      throw new Error("no such type");
    };
    expect(() => declare(broken)).toThrow("`skills[0].jsonSchema` throws: no such type");
    expect(() => declare(() => [])).toThrow(
      "`skills[0].jsonSchema` must be an object, or a function that returns one.",
    );
  });

  test("of a question in a data part that names the question", async () => {
    const agents = scripted(async (task) => task.ask("Which?", { schema: z.object({ size: z.enum(["s", "l"]) }) }));
    await using harness = await openHarness({ agents });
    const { id, status } = await harness.send("go");
    const parts = status.message?.parts ?? [];
    expect(parts[0]).toEqual({ text: "Which?" });
    const found = parts.map(inputSchemaOf).find((part) => part !== undefined);
    expect(found).toMatchObject({ schema: { required: ["size"] } });
    expect(status.message?.metadata).toMatchObject({ inputRequest: { requestId: found?.requestId } });
    await harness.send({ taskId: id, parts: [{ data: { size: "s" } }] });
    expect((await harness.get(id)).artifacts).toMatchObject([{ parts: [{ data: { size: "s" } }] }]);
  });
});
