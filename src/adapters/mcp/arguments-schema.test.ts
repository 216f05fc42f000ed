import { describe, expect, it } from "vitest";
import { argumentsSchema } from "./arguments-schema.ts";

const number = { type: "number" };

describe("the arguments of a tool", () => {
  const add = argumentsSchema({ type: "object", properties: { a: number, b: number }, required: ["a", "b"] });

  it("are named in the error if the caller sends a text", async () => {
    expect(await add["~standard"].validate("hello")).toEqual({
      issues: [{ message: "must be a JSON object with the arguments a, b" }],
    });
  });

  it("are accepted as an object, or as a text if there is one text argument", async () => {
    expect(await add["~standard"].validate({ a: 1, b: 2 })).toEqual({ value: { a: 1, b: 2 } });
    const greet = argumentsSchema({ type: "object", properties: { name: { type: "string" } } });
    expect(await greet["~standard"].validate("Ada")).toEqual({ value: { name: "Ada" } });
  });
});
