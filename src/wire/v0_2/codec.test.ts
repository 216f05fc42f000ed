import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES } from "../../protocol/error.ts";
import { OPERATIONS } from "../../protocol/operation.ts";
import { dialectSettings } from "../options.ts";
import { createRpcCodec as createNewerCodec } from "../v0_3/codec.ts";
import { storedEvent } from "../v0_3/test/frames.ts";
import { createRpcCodec } from "./codec.ts";

const settings = dialectSettings({ blockingDefault: { "0.2/jsonrpc": 7 } });
const codec = createRpcCodec(settings);
const strict = createRpcCodec(dialectSettings({ lenient: false }));
const newer = createNewerCodec(settings);
const message = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "x" }] };

describe("The 0.2 codec of JSON-RPC", () => {
  it.each([
    ["message/send", "send"],
    ["message/stream", "stream"],
    ["tasks/get", "get"],
    ["tasks/cancel", "cancel"],
    ["tasks/resubscribe", "subscribe"],
    ["tasks/pushNotificationConfig/set", "push-create"],
    ["tasks/pushNotificationConfig/get", "push-get"],
    ["tasks/pushNotificationConfig/list", "push-list"],
    ["tasks/pushNotificationConfig/delete", "push-delete"],
    ["agent/authenticatedExtendedCard", "extended-card"],
    ["agent/getAuthenticatedExtendedCard", undefined],
    ["tasks/send", undefined],
    ["tasks/list", undefined],
    ["SendMessage", undefined],
    ["", undefined],
  ])("maps the method %j to %s", (method, operation) => {
    expect(codec.operationOf(method)).toBe(operation);
  });

  it("has the policy of its version", () => {
    expect(codec).toMatchObject({
      dialect: "0.2/jsonrpc",
      version: "0.2",
      extensionsHeader: "x-a2a-extensions",
      streamErrorsAsEvents: true,
      streamsGets: true,
      policy: {
        closeOnInputRequired: true,
        terminalSubscribe: "snapshot",
        repeatCancel: "error",
        undeclaredExtendedCard: "extended-card-not-configured",
        namesTasks: true,
        tasksOnly: false,
        answersByReference: true,
      },
    });
  });

  it("has strict parsing if lenient is false, but lets callers choose task ids", () => {
    expect(strict).toMatchObject({ streamsGets: false, policy: { answersByReference: false, namesTasks: true } });
    expect(strict.operationOf("agent/authenticatedExtendedCard")).toBeUndefined();
    const { kind: _left, ...kindless } = message;
    expect(codec.decodeRequest("send", { message: kindless })).toBeDefined();
    expect(() => strict.decodeRequest("send", { message: kindless })).toThrow("message.kind: is required");
  });

  it("waits according to blockingDefault if a send has no blocking", () => {
    expect(codec.decodeRequest("send", { message })).toMatchObject({ waitMs: 7 });
    expect(strict.decodeRequest("send", { message })).toMatchObject({ waitMs: Number.POSITIVE_INFINITY });
    expect(codec.decodeRequest("send", { message, configuration: { blocking: false } })).toMatchObject({ waitMs: 0 });
  });

  it("does not require acceptedOutputModes", () => {
    expect(codec.decodeRequest("send", { message, configuration: {} })).toMatchObject({ outputModes: [] });
  });

  it("encodes most events as in 0.3", () => {
    const status = { state: "working", timestamp: "2026-01-01T00:00:00.000Z" } as const;
    const event = storedEvent({ kind: "status", status }, new Map<string, string>());
    const place = { taskId: "t" as never, contextId: "c" as never, final: false };
    expect(codec.encodeEvent(event, place)).toBe(newer.encodeEvent(event, place));
  });

  it("encodes the card of its own version", () => {
    const card = {
      ...{ name: "N", description: "", version: "1", interfaces: [], capabilities: {} },
      ...{ defaultInputModes: [], defaultOutputModes: [], skills: [] },
    };
    expect(JSON.parse(codec.encodeResult({ kind: "card", card }))).toMatchObject({ protocolVersion: "0.2.6" });
  });

  it.each(ERROR_CODES)("encodes %s with a code of 0.2", (code) => {
    const error = new A2AError(code, "No", { cause: new Error("inside"), metadata: { taskId: "t" } });
    const encoded = JSON.parse(codec.encodeError(error));
    expect([-32007, -32008, -32009, -32010, -32011]).not.toContain(encoded.code);
    const expected = code === "extended-card-not-configured" ? -32004 : JSON.parse(newer.encodeError(error)).code;
    expect(encoded).toEqual({
      code: expected,
      message: "No",
      data: { reason: expect.stringMatching(/^[A-Z_]+$/), taskId: "t" },
    });
    expect(codec.statusOf(error)).toBe(newer.statusOf(error));
  });

  it("decodes every request as 0.3 does", () => {
    const config = { url: "https://x" };
    const params = { id: "t", taskId: "t", message, pushNotificationConfigId: "p", pushNotificationConfig: config };
    for (const operation of OPERATIONS) {
      const read = { ...newer.decodeRequest(operation, params) };
      expect(codec.decodeRequest(operation, params)).toEqual("waitMs" in read ? { ...read, waitMs: 7 } : read);
    }
  });
});
