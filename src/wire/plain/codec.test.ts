import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES, invalidField } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import { writeStatus } from "../../protocol/serial.ts";
import { PLAIN_BINDING, plainInterface } from "./binding.ts";
import { createRestCodec } from "./codec.ts";
import { ROUTES } from "./routes.ts";

const codec = createRestCodec({ lenient: undefined });

describe("The plain codec", () => {
  it("supports only tasks, and callers cannot choose task ids", () => {
    expect(codec).toMatchObject({ dialect: "plain", mediaTypes: ["application/json"] });
    expect(codec.policy).toEqual({
      closeOnInputRequired: true,
      terminalSubscribe: "snapshot",
      repeatCancel: "error",
      undeclaredExtendedCard: "unsupported-operation",
      namesTasks: false,
      tasksOnly: true,
      answersByReference: false,
      answersByContext: false,
      push: { single: false, missing: "error", afterFailure: "suspended" },
    });
  });

  it("generates a different id for each message without one", () => {
    const body = { message: "Hello" };
    const ids = Array.from({ length: 100 }, () => {
      const request = codec.decodeRequest("send", { path: {}, query: new URLSearchParams(), body });
      return request.operation === "send" ? request.message.messageId : "";
    });
    expect(new Set(ids).size).toBe(100);
  });

  it("encodes a task alike for send and get", () => {
    const status = writeStatus({ state: "submitted", timestamp: "2030-01-01T00:00:00.000Z" });
    const task = { id: "t" as TaskId, contextId: "c" as ContextId, seq: 0, state: "submitted", status } as const;
    expect(codec.encodeResult({ kind: "sent", task })).toBe(codec.encodeResult({ kind: "task", task }));
  });

  it("refuses every other result", () => {
    const message = { messageId: "m" as MessageId, role: "agent", parts: [{ text: "x" }] } as const;
    const place = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
    expect(() => codec.encodeResult({ kind: "replied", message })).toThrow(A2AError);
    expect(() => codec.encodeOpening({ kind: "message", message })).toThrow(A2AError);
    expect(() => codec.encodeEvent({ body: "{}" }, place)).toThrow(A2AError);
  });
});

describe("A plain error", () => {
  it("has its code, message and invalid fields: pinned", () => {
    expect(codec.encodeError(new A2AError("internal", "Internal error", { cause: "secret" }))).toBe(
      '{"error":{"code":"internal","message":"Internal error"}}',
    );
    expect(codec.encodeError(invalidField("timeoutMs", "must be more than 0"))).toBe(
      '{"error":{"code":"invalid-params","message":"timeoutMs: must be more than 0",' +
        '"violations":[{"field":"timeoutMs","description":"must be more than 0"}]}}',
    );
    expect(codec.encodeError(new A2AError("task-not-found", "Task not found", { metadata: { taskId: "t" } }))).toBe(
      '{"error":{"code":"task-not-found","message":"Task not found","details":{"taskId":"t"}}}',
    );
  });

  it("has the HTTP status of its code", () => {
    const statusOf = (code: (typeof ERROR_CODES)[number]): number => codec.statusOf(new A2AError(code, ""));
    for (const code of ERROR_CODES) expect(statusOf(code)).toBeGreaterThanOrEqual(400);
    expect(statusOf("task-not-found")).toBe(404);
    expect(statusOf("invalid-params")).toBe(400);
    expect(statusOf("resource-exhausted")).toBe(503);
    expect(statusOf("internal")).toBe(500);
  });
});

describe("The plain interface in agent cards", () => {
  it("has a custom binding, which A2A clients do not take for a known one", () => {
    expect(plainInterface("https://a.example/agents/x")).toEqual({
      url: "https://a.example/agents/x",
      binding: PLAIN_BINDING,
      protocolVersion: "1.0",
    });
    expect(URL.canParse(PLAIN_BINDING)).toBe(true);
  });

  it("has the URL to which the paths are appended", () => {
    expect(ROUTES.map(({ method, path, operation }) => `${method} ${path} ${operation}`)).toEqual([
      "POST /a2a/tasks/send send",
      "GET /a2a/tasks/{id} get",
    ]);
  });
});
