import { describe, expect, it } from "vitest";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Task } from "../../protocol/task.ts";
import { dialectSettings } from "../options.ts";
import { createRpcCodec } from "./codec.ts";
import { stored } from "./test/models.ts";

const codec = createRpcCodec(dialectSettings({}), () => "new");
const timestamp = "2026-01-01T00:00:00.000Z";

const reply: Message = {
  messageId: "m" as MessageId,
  role: "agent",
  parts: [{ text: "Which one?" }],
  contextId: "session-1" as ContextId,
  taskId: "task-1" as TaskId,
};
const task: Task = {
  id: "task-1" as TaskId,
  contextId: "session-1" as ContextId,
  status: { state: "input-required", message: reply, timestamp },
  artifacts: [
    { artifactId: "a" as ArtifactId, name: "table", description: "Numbers", parts: [{ data: { n: 5 } }] },
    { artifactId: "b" as ArtifactId, parts: [{ url: "https://x/y", mediaType: "image/png" }], metadata: { w: 2 } },
  ],
  history: [{ messageId: "u" as MessageId, role: "user", parts: [{ text: "Analyze my dataset" }] }],
  metadata: { stateTransitions: [] },
};
const wireTask = {
  id: "task-1",
  sessionId: "session-1",
  status: {
    state: "input-required",
    message: { role: "agent", parts: [{ type: "text", text: "Which one?" }] },
    timestamp,
  },
  artifacts: [
    { name: "table", description: "Numbers", parts: [{ type: "data", data: { n: 5 } }], index: 0 },
    { parts: [{ type: "file", file: { uri: "https://x/y", mimeType: "image/png" } }], index: 1, metadata: { w: 2 } },
  ],
  history: [{ role: "user", parts: [{ type: "text", text: "Analyze my dataset" }] }],
  metadata: { stateTransitions: [] },
};

describe("The 0.1 codec", () => {
  it.each([
    ["tasks/send", "send"],
    ["tasks/sendSubscribe", "stream"],
    ["tasks/get", "get"],
    ["tasks/cancel", "cancel"],
    ["tasks/resubscribe", "subscribe"],
    ["tasks/pushNotification/set", "push-create"],
    ["tasks/pushNotification/get", "push-get"],
    ["message/send", undefined],
    ["tasks/pushNotificationConfig/set", undefined],
    ["tasks/list", undefined],
    ["SendMessage", undefined],
    ["undefined", undefined],
    ["__proto__", undefined],
    ["", undefined],
  ])("maps the method %j to %s", (method, operation) => {
    expect(codec.operationOf(method)).toBe(operation);
  });

  it("encodes tasks without wrapper and without members of later versions", () => {
    expect(JSON.parse(codec.encodeResult({ kind: "sent", task: stored(task) }))).toEqual(wireTask);
    expect(JSON.parse(codec.encodeResult({ kind: "task", task: stored(task) }))).toEqual(wireTask);
  });

  it("encodes only members that the task has", () => {
    const { id, contextId } = task;
    const bare = stored({ id, contextId, status: { state: "submitted", timestamp } });
    expect(codec.encodeResult({ kind: "sent", task: bare })).toBe(
      `{"id":"task-1","sessionId":"session-1","status":{"state":"submitted","timestamp":"${timestamp}"}}`,
    );
  });

  it("decodes a send, which answers at once unless blockingDefault says otherwise", () => {
    const params = {
      id: "task-1",
      sessionId: "session-1",
      message: { role: "user", parts: [{ type: "text", text: "Analyze my dataset" }] },
    };
    expect(codec.decodeRequest("send", params)).toEqual({
      operation: "send",
      tenant: "",
      message: {
        messageId: "new",
        role: "user",
        parts: [{ text: "Analyze my dataset" }],
        taskId: "task-1",
        contextId: "session-1",
      },
      metadata: {},
      outputModes: [],
      history: 0,
      waitMs: 0,
    });
    const waiting = createRpcCodec(dialectSettings({ blockingDefault: { "0.1/jsonrpc": 500 } }));
    expect(waiting.decodeRequest("send", params)).toMatchObject({ waitMs: 500 });
  });

  it("generates a different id for each message", () => {
    const fresh = createRpcCodec(dialectSettings({}));
    const ids = [1, 2].map(() => {
      const sent = fresh.decodeRequest("send", { id: "t", message: { role: "user", parts: [{ text: "x" }] } });
      return sent.operation === "send" ? sent.message.messageId : "";
    });
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("has strict parsing if lenient is false", () => {
    const strict = createRpcCodec(dialectSettings({ lenient: false }));
    const params = { id: "t", message: { role: "user", parts: [{ text: "x" }] } };
    expect(() => strict.decodeRequest("send", params)).toThrow("message.parts[0].type: is required");
    expect(() => codec.decodeRequest("send", params)).not.toThrow();
  });

  it("lets callers choose task ids, and returns only tasks", () => {
    expect(codec.policy).toMatchObject({ namesTasks: true, tasksOnly: true, answersByReference: false });
    expect(codec.policy).toMatchObject({ terminalSubscribe: "snapshot", repeatCancel: "error" });
    expect(codec.policy.closeOnInputRequired).toBe(true);
    expect(codec.policy.numbersArtifacts?.("1.0/jsonrpc")).toBe(true);
    expect([codec.dialect, codec.version]).toEqual(["0.1/jsonrpc", "0.1"]);
  });

  it("sends the error of a streaming method as an event", () => {
    expect(codec.streamErrorsAsEvents).toBe(true);
  });
});
