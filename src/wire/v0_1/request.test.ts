import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { A2AError } from "../../protocol/error.ts";
import { OPERATIONS, type Operation, type SendRequest } from "../../protocol/operation.ts";
import type { WaitDefault } from "../options.ts";
import { fieldRefused, frozen } from "../test/hostile.ts";
import { anything, mutated } from "../v0_3/test/hostile.ts";
import { encodeRpcRequest } from "./client-request.ts";
import { METHOD_OF } from "./methods.ts";
import { decodeRequest } from "./request.ts";
import { NEW_ID, request, SAMPLES } from "./test/models.ts";

const newId = (): string => NEW_ID;
const KNOWN = OPERATIONS.filter((operation) => METHOD_OF[operation] !== undefined);
const message = { role: "user", parts: [{ type: "text", text: "x" }] };
const push = { url: "https://x/hook" };

function decoded(
  operation: Operation,
  params: unknown,
  wait: WaitDefault = "return",
): ReturnType<typeof decodeRequest> {
  return decodeRequest(operation, params, { wait, newId, lenient: true });
}

function decodeSend(params: object, wait?: WaitDefault): SendRequest {
  const sent = decoded("send", params, wait);
  if (sent.operation !== "send") throw new Error(sent.operation);
  return sent;
}

function refusedField(operation: Operation, params: unknown): string | undefined {
  return fieldRefused(() => decoded(operation, params));
}

describe("A 0.1 send", () => {
  it("has a task id; by default it answers at once and requests no history", () => {
    expect(decodeSend({ id: "t", message })).toEqual({
      operation: "send",
      tenant: "",
      message: { messageId: "new", role: "user", parts: [{ text: "x" }], taskId: "t" },
      metadata: {},
      outputModes: [],
      history: 0,
      waitMs: 0,
    });
  });

  it("is decoded with all its members", () => {
    const params = {
      id: "task-1",
      sessionId: "session-1",
      message: { ...message, metadata: { a: 1 } },
      acceptedOutputModes: ["text/plain"],
      pushNotification: { ...push, token: "k", authentication: { schemes: ["Bearer", "Basic"], credentials: "c" } },
      historyLength: 3,
      metadata: { b: 2 },
    };
    expect(decoded("stream", params)).toEqual({
      operation: "stream",
      tenant: "",
      message: {
        messageId: "new",
        role: "user",
        parts: [{ text: "x" }],
        taskId: "task-1",
        contextId: "session-1",
        metadata: { a: 1 },
      },
      metadata: { b: 2 },
      outputModes: ["text/plain"],
      history: 3,
      waitMs: 0,
      push: { ...push, token: "k", authentication: { schemes: ["Bearer", "Basic"], credentials: "c" } },
    });
  });

  it("waits according to blockingDefault", () => {
    expect(decodeSend({ id: "t", message }, "wait").waitMs).toBe(Number.POSITIVE_INFINITY);
    expect(decodeSend({ id: "t", message }, 50).waitMs).toBe(50);
  });

  it("decodes null as absent", () => {
    const nothing = { sessionId: null, acceptedOutputModes: null, pushNotification: null, historyLength: null };
    expect(decodeSend({ id: "t", message: { ...message, metadata: null }, ...nothing, metadata: null })).toEqual(
      decodeSend({ id: "t", message }),
    );
  });

  it("decodes an empty sessionId as absent", () => {
    expect(decodeSend({ id: "t", message, sessionId: "" })).toEqual(decodeSend({ id: "t", message }));
  });

  it.each([
    ["in the message", { ...message, messageId: "m" }, "m"],
    ["in the metadata", { ...message, metadata: { messageId: "m" } }, "m"],
    ["of no use", { ...message, messageId: 5, metadata: { messageId: "" } }, "new"],
    ["too long", { ...message, messageId: "x".repeat(257) }, "new"],
    ["that cannot be written", { ...message, messageId: "\ud800" }, "new"],
    ["that cannot be kept", { ...message, messageId: "a\0b" }, "new"],
  ])("uses the message id %s", (_where, sent, messageId) => {
    expect(decodeSend({ id: "t", message: sent }).message.messageId).toBe(messageId);
  });

  it("ignores message members of later versions", () => {
    const links = { kind: "event", taskId: "o", contextId: 5, referenceTaskIds: ["r"], extensions: ["urn:e"] };
    expect(decodeSend({ id: "t", message: { ...message, ...links } })).toEqual(decodeSend({ id: "t", message }));
  });

  it("accepts parts with kind", () => {
    const parts = [{ kind: "text", text: "x" }];
    expect(decodeSend({ id: "t", message: { ...message, parts } })).toEqual(decodeSend({ id: "t", message }));
  });

  it.each([
    ["no tag", { text: "x" }, "message.parts[0].type"],
    ["the tag of later versions", { kind: "text", text: "x" }, "message.parts[0].type"],
    ["a file by another name", { type: "file", file: { url: "https://x" } }, "message.parts[0].file"],
    ["a tool", { type: "tool-result", toolUseId: "u", result: 1 }, "message.parts[0].type"],
  ])("is refused by a strict server: %s", (_what, part, field) => {
    const params = (sent: object): object => ({ id: "t", message: { role: "user", parts: [sent] } });
    const strict = (sent: object): unknown =>
      decodeRequest("send", params(sent), { wait: "return", newId, lenient: false });
    expect(() => strict(part)).toThrow(expect.objectContaining({ violations: [expect.objectContaining({ field })] }));
    expect(() => decoded("send", params(part))).not.toThrow();
    expect(strict({ type: "text", text: "x" })).toEqual(decoded("send", params({ type: "text", text: "x" })));
    expect(strict({ type: "file", file: { name: "a" } })).toMatchObject({ message: { parts: [{ data: {} }] } });
  });

  it.each<[string, unknown, string]>([
    ["no params", undefined, "id"],
    ["params that are a list", [], "params"],
    ["no task", { message }, "id"],
    ["an empty name for the task", { id: "", message }, "id"],
    ["a number for the task", { id: 5, message }, "id"],
    ["too long a name for the task", { id: "x".repeat(257), message }, "id"],
    ["a number for the session", { id: "t", sessionId: 5, message }, "sessionId"],
    ["no message", { id: "t" }, "message"],
    ["text for a message", { id: "t", message: "hi" }, "message"],
    ["no role", { id: "t", message: { parts: message.parts } }, "message.role"],
    ["the agent's role", { id: "t", message: { ...message, role: "agent" } }, "message.role"],
    ["no parts", { id: "t", message: { role: "user" } }, "message.parts"],
    ["an empty list of parts", { id: "t", message: { ...message, parts: [] } }, "message.parts"],
    ["text for parts", { id: "t", message: { ...message, parts: "x" } }, "message.parts"],
    ["a wrong part", { id: "t", message: { ...message, parts: [{ type: "x" }] } }, "message.parts[0].type"],
    [
      "a wrong file",
      { id: "t", message: { ...message, parts: [{ type: "file", file: { bytes: "%" } }] } },
      "message.parts[0].file.bytes",
    ],
    ["metadata of a message that is text", { id: "t", message: { ...message, metadata: "x" } }, "message.metadata"],
    ["metadata that is a list", { id: "t", message, metadata: [] }, "metadata"],
    ["less than no history", { id: "t", message, historyLength: -1 }, "historyLength"],
    ["history as text", { id: "t", message, historyLength: "3" }, "historyLength"],
    ["modes as text", { id: "t", message, acceptedOutputModes: "text/plain" }, "acceptedOutputModes"],
    ["a webhook that is text", { id: "t", message, pushNotification: "https://x" }, "pushNotification"],
    ["a webhook without address", { id: "t", message, pushNotification: {} }, "pushNotification.url"],
  ])("is refused with %s", (_what, params, field) => {
    expect(refusedField("send", params)).toBe(field);
    expect(refusedField("stream", params)).toBe(field);
  });
});

describe("A 0.1 request", () => {
  it.each<[Operation, unknown, object]>([
    ["get", { id: "t" }, { id: "t", history: 0 }],
    ["get", { id: "t", historyLength: 0 }, { id: "t", history: 0 }],
    ["get", { id: "t", historyLength: 7, metadata: {} }, { id: "t", history: 7 }],
    ["cancel", { id: "t" }, { id: "t", metadata: {} }],
    ["cancel", { id: "t", metadata: { a: 1 } }, { id: "t", metadata: { a: 1 } }],
    ["subscribe", { id: "t", historyLength: 5, metadata: {} }, { id: "t" }],
    [
      "push-create",
      { id: "t", pushNotificationConfig: { ...push, events: ["status"] } },
      { taskId: "t", config: { ...push, events: ["status"] } },
    ],
    [
      "push-create",
      { id: "t", pushNotificationConfig: { ...push, headers: { "X-Key": "k" } } },
      { taskId: "t", config: { ...push, headers: { "X-Key": "k" } } },
    ],
    ["push-get", { id: "t", metadata: {} }, { taskId: "t" }],
  ])("to %s is decoded from %j", (operation, params, expected) => {
    expect(decoded(operation, params)).toEqual({ operation, tenant: "", ...expected });
  });

  it.each<[Operation, unknown, string]>([
    ["get", undefined, "id"],
    ["get", { id: "t", historyLength: -1 }, "historyLength"],
    ["get", { id: "t", historyLength: 1.5 }, "historyLength"],
    ["cancel", { id: null }, "id"],
    ["cancel", { id: "t", metadata: "x" }, "metadata"],
    ["subscribe", {}, "id"],
    ["push-create", { taskId: "t", pushNotificationConfig: push }, "id"],
    ["push-create", { id: "t" }, "pushNotificationConfig"],
    ["push-create", { id: "t", pushNotificationConfig: {} }, "pushNotificationConfig.url"],
    [
      "push-create",
      { id: "t", pushNotificationConfig: { ...push, authentication: { credentials: "c" } } },
      "pushNotificationConfig.authentication.schemes",
    ],
    [
      "push-create",
      { id: "t", pushNotificationConfig: { ...push, events: ["status", "done"] } },
      "pushNotificationConfig.events[1]",
    ],
    [
      "push-create",
      { id: "t", pushNotificationConfig: { ...push, authentication: { schemes: ["a", "b\n"] } } },
      "pushNotificationConfig.authentication.schemes[1]",
    ],
    ["push-get", {}, "id"],
  ])("to %s is refused for %j", (operation, params, field) => {
    expect(refusedField(operation, params)).toBe(field);
  });

  it("that sets the webhook to null deletes it", () => {
    const params = { id: "t", pushNotificationConfig: null };
    expect(decoded("push-create", params)).toEqual({ operation: "push-delete", tenant: "", taskId: "t" });
    expect(refusedField("push-create", { pushNotificationConfig: null })).toBe("id");
  });

  it.each(["list", "push-list", "push-delete", "extended-card"] as const)(
    "to %s does not exist in 0.1",
    (operation) => {
      expect(() => decoded(operation, { id: "t" })).toThrow(expect.objectContaining({ code: "method-not-found" }));
    },
  );

  it("is decoded, or refused with a field name, whatever it contains, and is not modified", () => {
    const valid = request.map((asked): unknown => JSON.parse(encodeRpcRequest(asked, newId).params));
    const hostile = fc.oneof(anything, mutated(valid)).map(frozen);
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), hostile, (operation, params) => {
        try {
          const { operation: understood } = decoded(operation, params);
          return understood === operation || (operation === "push-create" && understood === "push-delete");
        } catch (error) {
          return error instanceof A2AError && error.code === "invalid-params" && error.violations.length > 0;
        }
      }),
      { ...SAMPLES, numRuns: sampled(250, 2000) },
    );
  });
});
