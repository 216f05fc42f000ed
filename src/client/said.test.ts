import { describe, expect, it } from "vitest";
import type { MessageId, TaskId } from "../protocol/ids.ts";
import { messageOf } from "./said.ts";

describe("What is said", () => {
  it.each([
    ["a text", "hello", [{ text: "hello" }]],
    ["one part", { data: { a: 1 } }, [{ data: { a: 1 } }]],
    ["parts", [{ text: "a" }, { url: "https://example.com/x" }], [{ text: "a" }, { url: "https://example.com/x" }]],
    ["members of a message", { parts: [{ text: "a" }] }, [{ text: "a" }]],
  ])("may be %s", (_, said, parts) => {
    expect(messageOf(said)).toEqual({ messageId: expect.stringMatching(/^[0-9a-f-]{36}$/), role: "user", parts });
  });

  it("has an id of its own every time, unless it comes with one", () => {
    expect(messageOf("hello").messageId).not.toBe(messageOf("hello").messageId);
    expect(messageOf({ messageId: "m" as MessageId, parts: [] }).messageId).toBe("m");
  });

  it("belongs where it is said to belong, first by its options", () => {
    const parts = [{ text: "a" }];
    expect(messageOf("hello", { taskId: "t", contextId: "c" })).toMatchObject({ taskId: "t", contextId: "c" });
    expect(messageOf({ parts, taskId: "in" as TaskId }, { taskId: "beside" }).taskId).toBe("beside");
    expect(messageOf({ parts, taskId: "in" as TaskId }).taskId).toBe("in");
    expect(messageOf("hello", { taskId: "", contextId: "" })).not.toHaveProperty("contextId");
  });
});
