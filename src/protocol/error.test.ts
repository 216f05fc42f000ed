import { describe, expect, test } from "vitest";
import { A2AError, invalidField, toA2AError } from "./error.ts";

describe("toA2AError", () => {
  test("returns an A2AError unchanged", () => {
    const error = new A2AError("task-not-found", "No such task.");
    expect(toA2AError(error)).toBe(error);
  });

  test.each([new Error("password=1234"), "password=1234", undefined, null])("hides other errors: %s", (thrown) => {
    const error = toA2AError(thrown);
    expect(error).toMatchObject({ code: "internal", message: "Internal error" });
    expect(JSON.stringify([error.metadata, error.violations, error.data])).not.toContain("1234");
    expect(error.cause).toBe(thrown);
  });
});

test("an invalid field is in the message and in the violations", () => {
  expect(invalidField("message.parts[2]", "must have content")).toMatchObject({
    code: "invalid-params",
    message: "message.parts[2]: must have content",
    violations: [{ field: "message.parts[2]", description: "must have content" }],
  });
});
