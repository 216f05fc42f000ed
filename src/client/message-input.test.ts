import { describe, expect, it } from "vitest";
import type { MessageId, TaskId } from "../protocol/ids.ts";
import { messageOf } from "./message-input.ts";

describe("The input of a message", () => {
  it.each([
    ["a text", "hello", [{ text: "hello" }]],
    ["one part", { data: { a: 1 } }, [{ data: { a: 1 } }]],
    ["parts", [{ text: "a" }, { url: "https://example.com/x" }], [{ text: "a" }, { url: "https://example.com/x" }]],
    ["a file", { file: { bytes: new Uint8Array([1, 2, 255]), name: "a.bin" } }, [{ raw: "AQL/", filename: "a.bin" }]],
    ["a file by URL", { file: { url: "https://example.com/x" } }, [{ url: "https://example.com/x" }]],
    ["members of a message with a file", { parts: [{ file: { bytes: new Uint8Array(1) } }] }, [{ raw: "AA==" }]],
    ["members of a message", { parts: [{ text: "a" }] }, [{ text: "a" }]],
  ])("may be %s", (_, input, parts) => {
    expect(messageOf(input)).toEqual({ messageId: expect.stringMatching(/^[0-9a-f-]{36}$/), role: "user", parts });
  });

  it.each([
    ["bytes", new Uint8Array([1])],
    ["a text that is bytes", { text: new Uint8Array([1]) }],
    ["data that is bytes", [{ data: new Uint8Array([1]) }]],
    ["an array buffer in a message", { parts: [{ text: new ArrayBuffer(1) }] }],
  ])("must not be %s, which JSON turns into objects", (_, input) => {
    expect(() => messageOf(input as never)).toThrow("Send them as a file: { file: { bytes, mediaType } }");
  });

  it("must have the bytes of a file as a Uint8Array or ArrayBuffer", () => {
    expect(() => messageOf({ file: { bytes: "text" } } as never)).toThrow("A file needs either bytes");
  });

  it("keeps all bytes of a large file", () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
    const [part] = messageOf({ file: { bytes } }).parts;
    expect(Buffer.from(part?.raw ?? "", "base64")).toEqual(Buffer.from(bytes));
  });

  it("gets a new message id, unless it has one", () => {
    expect(messageOf("hello").messageId).not.toBe(messageOf("hello").messageId);
    expect(messageOf({ messageId: "m" as MessageId, parts: [] }).messageId).toBe("m");
  });

  it("takes context and task from the options first, then from the message", () => {
    const parts = [{ text: "a" }];
    expect(messageOf("hello", { taskId: "t", contextId: "c" })).toMatchObject({ taskId: "t", contextId: "c" });
    expect(messageOf({ parts, taskId: "in" as TaskId }, { taskId: "beside" }).taskId).toBe("beside");
    expect(messageOf({ parts, taskId: "in" as TaskId }).taskId).toBe("in");
    expect(messageOf("hello", { taskId: "", contextId: "" })).not.toHaveProperty("contextId");
  });
});
