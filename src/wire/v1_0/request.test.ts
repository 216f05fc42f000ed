import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { OPERATIONS, type Operation, type SendRequest } from "../../protocol/operation.ts";
import { readMessage, writeMessage } from "../../protocol/serial.ts";
import { decodeMessage } from "./message.ts";
import { decodePart } from "./part.ts";
import { decodeRequest } from "./request.ts";
import { anything, decodesOrNames, mutated } from "./test/hostile.ts";
import { SAMPLES } from "./test/models.ts";

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] };

function decodeSend(params: object): SendRequest {
  const request = decodeRequest("send", params);
  if (request.operation !== "send") throw new Error(request.operation);
  return request;
}

describe("A 1.0 request", () => {
  it("gets its defaults", () => {
    expect(decodeSend({ message })).toEqual({
      operation: "send",
      tenant: "",
      message: { messageId: "m", role: "user", parts: [{ text: "x" }] },
      metadata: {},
      outputModes: [],
      history: undefined,
      waitMs: Number.POSITIVE_INFINITY,
    });
    expect(decodeRequest("list", undefined)).toEqual({
      operation: "list",
      tenant: "",
      pageSize: 50,
      artifacts: false,
      history: undefined,
    });
  });

  it("may use the snake_case names, enum numbers and decimal strings of ProtoJSON", () => {
    const request = decodeSend({
      message: {
        message_id: "m",
        role: 1,
        context_id: "c",
        task_id: "t",
        reference_task_ids: ["r"],
        parts: [{ text: "x", media_type: "text/markdown" }],
      },
      configuration: { history_length: "3", return_immediately: true, accepted_output_modes: ["text/plain"] },
    });
    expect(request).toMatchObject({ history: 3, waitMs: 0, outputModes: ["text/plain"] });
    expect(request.message).toEqual({
      messageId: "m",
      role: "user",
      contextId: "c",
      taskId: "t",
      referenceTaskIds: ["r"],
      parts: [{ text: "x", mediaType: "text/markdown" }],
    });
    expect(
      decodeRequest("list", { page_size: "7", status: 2, context_id: "c", include_artifacts: true, history_length: 0 }),
    ).toMatchObject({ pageSize: 7, state: "working", contextId: "c", artifacts: true, history: 0 });
    expect(decodeRequest("push-get", { task_id: "t", id: "c" })).toMatchObject({ taskId: "t", id: "c" });
  });

  it("decodes null and empty strings as absent, and ignores unknown members", () => {
    const request = decodeSend({
      message: { ...message, taskId: null, contextId: "", metadata: null, extensions: null, kind: "message", x: 1 },
      configuration: null,
      metadata: null,
      tenant: null,
      unknown: { deep: [] },
    });
    expect(request.message).toEqual({ messageId: "m", role: "user", parts: [{ text: "x" }] });
    expect(decodeRequest("list", { pageToken: "", status: "TASK_STATE_UNSPECIFIED", pageSize: null })).toEqual(
      decodeRequest("list", {}),
    );
    expect(decodeRequest("list", { status: 0 })).toEqual(decodeRequest("list", {}));
  });

  it("accepts the names of waiting and webhooks in the release candidates", () => {
    expect(decodeSend({ message, configuration: { blocking: false } }).waitMs).toBe(0);
    expect(decodeSend({ message, configuration: { blocking: false, returnImmediately: false } }).waitMs).toBe(
      Number.POSITIVE_INFINITY,
    );
    const configuration = { pushNotificationConfig: { url: "https://x" } };
    expect(decodeSend({ message, configuration }).push).toEqual({ url: "https://x" });
  });

  it.each([
    ["TASK_STATE_SUBMITTED", 1, "submitted"],
    ["TASK_STATE_WORKING", 2, "working"],
    ["TASK_STATE_COMPLETED", 3, "completed"],
    ["TASK_STATE_FAILED", 4, "failed"],
    ["TASK_STATE_CANCELED", 5, "canceled"],
    ["TASK_STATE_INPUT_REQUIRED", 6, "input-required"],
    ["TASK_STATE_REJECTED", 7, "rejected"],
    ["TASK_STATE_AUTH_REQUIRED", 8, "auth-required"],
  ])("filters by %s, also as %d", (name, number, state) => {
    expect(decodeRequest("list", { status: name })).toMatchObject({ state });
    expect(decodeRequest("list", { status: number })).toMatchObject({ state });
  });

  it("is decoded, or refused with a field name, whatever it contains", () => {
    fc.assert(fc.property(fc.constantFrom(...OPERATIONS), anything, isDecodedOrRefused), {
      ...SAMPLES,
      numRuns: sampled(250, 2000),
    });
  });

  it("is decoded, or refused with a field name, whatever is changed in a valid one", () => {
    fc.assert(
      fc.property(mutated, ([operation, params]) => isDecodedOrRefused(operation, params)),
      { ...SAMPLES, numRuns: sampled(250, 2000) },
    );
  });
});

function isDecodedOrRefused(operation: Operation, params: unknown): boolean {
  return decodesOrNames(() => decodeRequest(operation, params).operation === operation);
}

describe("A 1.0 part", () => {
  it.each([
    ["aGVsbG8=", "aGVsbG8="],
    ["aGVsbG8", "aGVsbG8="],
    ["-_-_", "+/+/"],
    ["-_8", "+/8="],
    ["-_8=", "+/8="],
    ["_w", "/w=="],
    ["", ""],
  ])("accepts base64 in both alphabets: %j becomes %j", (raw, expected) => {
    expect(decodePart({ raw }, "p")).toEqual({ raw: expected });
  });

  it("keeps the bytes of any base64", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom("base64", "base64url"), (bytes, alphabet) => {
        const text = Buffer.from(bytes).toString(alphabet);
        expect(decodePart({ raw: text }, "p")).toEqual({ raw: Buffer.from(bytes).toString("base64") });
      }),
    );
  });

  it("may be empty text, an empty file, or null data", () => {
    expect(decodePart({ text: "" }, "p")).toEqual({ text: "" });
    expect(decodePart({ raw: "" }, "p")).toEqual({ raw: "" });
    expect(decodePart({ data: null }, "p")).toEqual({ data: null });
    expect(decodePart({ data: null, text: null }, "p")).toEqual({ data: null });
  });

  it("keeps data unchanged, including __proto__", () => {
    const wire: unknown = JSON.parse(
      '{"data":{"__proto__":{"polluted":true},"constructor":1},"metadata":{"__proto__":1}}',
    );
    const decoded = decodePart(wire, "p");
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(wire));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("is unchanged after storing, whatever its data", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.dictionary(fc.string(), fc.jsonValue()), (data, metadata) => {
        const wire: unknown = JSON.parse(
          JSON.stringify({ messageId: "m", role: "ROLE_USER", parts: [{ data }, { text: "t" }], metadata }),
        );
        const decoded = decodeMessage(wire, "message");
        expect(readMessage(writeMessage(decoded))).toEqual(decoded);
        expect(JSON.parse(writeMessage(decoded))).toEqual(wire);
      }),
    );
  });
});
