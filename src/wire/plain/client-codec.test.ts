import { describe, expect, it } from "vitest";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import { dialectSettings } from "../options.ts";
import { createRestClientCodec } from "./client-codec.ts";
import { createRestCodec } from "./codec.ts";

const client = createRestClientCodec();
const server = createRestCodec(dialectSettings({}));

const SEND: SendRequest = {
  operation: "send",
  tenant: "",
  message: { messageId: "m" as MessageId, role: "user", parts: [{ text: "hello" }], contextId: "s" as ContextId },
  metadata: { skillId: "greet" },
  outputModes: [],
  history: undefined,
  waitMs: 0,
  timeoutMs: 5000,
};

describe("A client of the plain dialect", () => {
  it("sends requests that the server codec decodes", () => {
    const { method, path, body } = client.encodeRequest(SEND);
    expect([method, path]).toEqual(["POST", "/a2a/tasks/send"]);
    const read = server.decodeRequest("send", { path: {}, query: new URLSearchParams(), body: JSON.parse(body ?? "") });
    expect(read).toMatchObject({
      message: { parts: [{ text: "hello" }], contextId: "s" },
      metadata: { skillId: "greet" },
      timeoutMs: 5000,
    });
  });

  it("converts other parts to text", () => {
    const parts = [{ text: "see" }, { data: { a: 1 } }, { url: "https://example.com/x" }];
    const { body } = client.encodeRequest({ ...SEND, message: { ...SEND.message, parts } });
    expect(JSON.parse(body ?? "").message).toBe('see\n{"a":1}\nhttps://example.com/x');
  });

  it("gets a task by its path, and supports no other operation", () => {
    const get = { operation: "get", tenant: "", id: "a/b" as TaskId, history: undefined } as const;
    expect(client.encodeRequest(get)).toEqual({ method: "GET", path: "/a2a/tasks/a%2Fb" });
    expect(() => client.encodeRequest({ operation: "cancel", tenant: "", id: "t" as TaskId, metadata: {} })).toThrow(
      "supports only sending messages and getting tasks",
    );
  });

  it("decodes the agent's last message as the status message", () => {
    const wire = {
      id: "t",
      state: "completed",
      sessionId: "s",
      messages: [
        { role: "user", parts: [{ type: "text", text: "hello" }] },
        { role: "agent", parts: [{ text: "Good " }, { text: "day" }] },
      ],
      createdAt: "2030-01-01T00:00:00Z",
      updatedAt: "2030-01-01T00:00:05Z",
    };
    expect(client.decodeResult("send", wire)).toMatchObject({
      kind: "sent",
      task: {
        id: "t",
        contextId: "s",
        status: {
          state: "completed",
          message: { role: "agent", parts: [{ text: "Good day" }] },
          timestamp: "2030-01-01T00:00:05.000Z",
        },
      },
    });
  });

  it.each([[null], [[]], ["done"], [{}], [{ id: "t" }], [{ id: "t", state: "dancing" }], [{ state: "working" }]])(
    "says that it cannot read %j",
    (value) => {
      expect(() => client.decodeResult("get", value)).toThrow(
        expect.objectContaining({ code: "invalid-agent-response" }),
      );
    },
  );

  it.each([
    [{ error: { message: "Gone" } }, 404, { code: "task-not-found", message: "Gone" }],
    [{ error: "Broken" }, 500, { code: "internal", message: "Broken" }],
    [undefined, 503, { code: "unavailable", message: "The agent answered with HTTP 503" }],
  ])("is decoded from %j", (body, status, error) => {
    expect(client.decodeError(body, status)).toMatchObject(error);
  });
});
