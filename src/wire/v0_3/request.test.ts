import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { OPERATIONS, type Operation, type SendRequest } from "../../protocol/operation.ts";
import { LENIENT } from "../fields/parsing.ts";
import type { WaitDefault } from "../options.ts";
import { fieldRefused, frozen } from "../test/hostile.ts";
import { encodeRpcRequest } from "./client-request.ts";
import { decodeRequest, type RequestParsing } from "./request.ts";
import { anything, mutated } from "./test/hostile.ts";
import { rpcRequest, SAMPLES } from "./test/models.ts";

const message = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "x" }] };
const push = { url: "https://x/hook" };
const LIBERAL_WAIT: RequestParsing = { ...LENIENT, absentWait: "wait" };

function decodeSend(params: object, absentWait: WaitDefault = "wait"): SendRequest {
  const request = decodeRequest("send", params, { ...LENIENT, absentWait });
  if (request.operation !== "send") throw new Error(request.operation);
  return request;
}

function refused(operation: Operation, params: unknown): string | undefined {
  return fieldRefused(() => decodeRequest(operation, params, LIBERAL_WAIT));
}

describe("A 0.3 send", () => {
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
  });

  it("is decoded with all its members", () => {
    const links = { contextId: "c", taskId: "t", referenceTaskIds: ["r"], extensions: ["urn:e"], metadata: { a: 1 } };
    const configuration = {
      acceptedOutputModes: ["text/plain"],
      historyLength: 3,
      blocking: true,
      pushNotificationConfig: { ...push, id: "p", token: "s", authentication: { schemes: ["Bearer", "Basic"] } },
    };
    expect(
      decodeRequest(
        "stream",
        { message: { ...message, ...links }, configuration, metadata: { b: 2 } },
        { ...LENIENT, absentWait: 5 },
      ),
    ).toEqual({
      operation: "stream",
      tenant: "",
      message: { messageId: "m", role: "user", parts: [{ text: "x" }], ...links },
      metadata: { b: 2 },
      outputModes: ["text/plain"],
      history: 3,
      waitMs: Number.POSITIVE_INFINITY,
      push: { ...push, id: "p", token: "s", authentication: { schemes: ["Bearer", "Basic"] } },
    });
  });

  it("decodes null and empty strings as absent, and ignores unknown members", () => {
    const request = decodeSend({
      message: { ...message, kind: null, taskId: null, contextId: "", metadata: null, extensions: [], x: 1 },
      configuration: null,
      metadata: null,
      tenant: "not of this version",
      unknown: { deep: [] },
    });
    expect(request).toEqual(decodeSend({ message }));
  });

  it("may have messageId beside the message, if the message has none", () => {
    const { messageId, ...rest } = message;
    expect(decodeSend({ message: rest, messageId }).message.messageId).toBe("m");
    expect(decodeSend({ message: { ...rest, messageId: null }, messageId }).message.messageId).toBe("m");
    expect(decodeSend({ message, messageId: "other" }).message.messageId).toBe("m");
    expect(refused("send", { messageId })).toBe("message");
  });

  it.each<[string, readonly [object, WaitDefault], number]>([
    ["waits if it says so", [{ blocking: true }, "return"], Number.POSITIVE_INFINITY],
    ["does not wait if it says so", [{ blocking: false }, "wait"], 0],
    ["does not wait if it says so, whatever the limit", [{ blocking: false }, 500], 0],
    ["waits by default", [{}, "wait"], Number.POSITIVE_INFINITY],
    ["may be set not to wait by default", [{}, "return"], 0],
    ["may be set to wait for a while by default", [{}, 500], 500],
    ["takes null for not saying", [{ blocking: null }, 500], 500],
    ["does not wait by default if it wants to be notified", [{ pushNotificationConfig: push }, "wait"], 0],
    [
      "waits even then if it says so",
      [{ pushNotificationConfig: push, blocking: true }, "return"],
      Number.POSITIVE_INFINITY,
    ],
  ])("%s", (_what, [configuration, absentWait], waitMs) => {
    expect(decodeSend({ message, configuration }, absentWait).waitMs).toBe(waitMs);
  });

  it("accepts pushNotification as the name of the webhook, and does not wait then", () => {
    const named = { message, configuration: { pushNotification: push } };
    expect(decodeSend(named, "wait")).toMatchObject({ push, waitMs: 0 });
    const both = {
      message,
      configuration: { pushNotification: { url: "https://other" }, pushNotificationConfig: push },
    };
    expect(decodeSend(both, "wait")).toMatchObject({ push });
    const strict: RequestParsing = { tag: "kind", lenient: false, absentWait: "wait" };
    expect(decodeRequest("send", named, strict)).not.toHaveProperty("push");
  });

  it.each([
    ["no history", { historyLength: 0 }, 0],
    ["the last messages", { historyLength: 7 }, 7],
    ["whatever there is", {}, undefined],
    ["whatever there is, by null", { historyLength: null }, undefined],
  ])("may ask for %s", (_what, configuration, history) => {
    expect(decodeSend({ message, configuration }).history).toBe(history);
  });

  it.each([
    ["no parameters", undefined, "message"],
    ["a list of parameters", [message], "params"],
    ["text for parameters", "x", "params"],
    ["no message", {}, "message"],
    ["null for a message", { message: null }, "message"],
    ["text for a message", { message: "x" }, "message"],
    ["a message of another kind", { message: { ...message, kind: "task" } }, "message.kind"],
    ["a message without an id", { message: { ...message, messageId: undefined } }, "message.messageId"],
    ["a message with an empty id", { message: { ...message, messageId: "" } }, "message.messageId"],
    ["a message with a long id", { message: { ...message, messageId: "x".repeat(257) } }, "message.messageId"],
    ["a message whose id is a number", { message: { ...message, messageId: 1 } }, "message.messageId"],
    ["a message without role", { message: { ...message, role: undefined } }, "message.role"],
    ["a message from the agent", { message: { ...message, role: "agent" } }, "message.role"],
    ["a message from the system", { message: { ...message, role: "system" } }, "message.role"],
    ["a role of the next version", { message: { ...message, role: "ROLE_USER" } }, "message.role"],
    ["no parts", { message: { ...message, parts: undefined } }, "message.parts"],
    ["an empty list of parts", { message: { ...message, parts: [] } }, "message.parts"],
    ["text for parts", { message: { ...message, parts: "abc" } }, "message.parts"],
    ["too many parts", { message: { ...message, parts: Array(1001).fill({ text: "" }) } }, "message.parts"],
    ["a wrong part", { message: { ...message, parts: [{ text: "" }, null] } }, "message.parts[1]"],
    [
      "a wrong kind of part",
      { message: { ...message, parts: [{ text: "" }, { text: "" }, { kind: "x" }] } },
      "message.parts[2].kind",
    ],
    ["a task that is a number", { message: { ...message, taskId: 1 } }, "message.taskId"],
    ["a context that is a list", { message: { ...message, contextId: [] } }, "message.contextId"],
    ["references that are text", { message: { ...message, referenceTaskIds: "t" } }, "message.referenceTaskIds"],
    ["a reference that is null", { message: { ...message, referenceTaskIds: [null] } }, "message.referenceTaskIds[0]"],
    ["extensions that are text", { message: { ...message, extensions: "urn:e" } }, "message.extensions"],
    ["metadata of a message that is text", { message: { ...message, metadata: "x" } }, "message.metadata"],
    ["metadata that is a list", { message, metadata: [] }, "metadata"],
    ["a configuration that is a list", { message, configuration: [] }, "configuration"],
    ["blocking as text", { message, configuration: { blocking: "true" } }, "configuration.blocking"],
    ["blocking as a number", { message, configuration: { blocking: 1 } }, "configuration.blocking"],
    ["less than no history", { message, configuration: { historyLength: -1 } }, "configuration.historyLength"],
    ["half a message of history", { message, configuration: { historyLength: 1.5 } }, "configuration.historyLength"],
    ["history as text", { message, configuration: { historyLength: "3" } }, "configuration.historyLength"],
    ["more history than counts", { message, configuration: { historyLength: 2 ** 31 } }, "configuration.historyLength"],
    [
      "modes as text",
      { message, configuration: { acceptedOutputModes: "text/plain" } },
      "configuration.acceptedOutputModes",
    ],
    [
      "a mode that is null",
      { message, configuration: { acceptedOutputModes: [null] } },
      "configuration.acceptedOutputModes[0]",
    ],
    [
      "a webhook that is text",
      { message, configuration: { pushNotificationConfig: "https://x" } },
      "configuration.pushNotificationConfig",
    ],
    [
      "a webhook without address",
      { message, configuration: { pushNotificationConfig: {} } },
      "configuration.pushNotificationConfig.url",
    ],
    [
      "a webhook without address, as others call it",
      { message, configuration: { pushNotification: {} } },
      "configuration.pushNotification.url",
    ],
  ])("is refused with %s", (_what, params, field) => {
    expect(refused("send", params)).toBe(field);
    expect(refused("stream", params)).toBe(field);
  });
});

describe("Strict parsing of 0.3", () => {
  const STRICT: RequestParsing = { tag: "kind", lenient: false, absentWait: "wait" };
  const { kind: _left, ...kindless } = message;
  const { messageId, ...nameless } = message;

  it.each<[string, Operation, object, string]>([
    ["a message without its kind", "send", { message: kindless }, "message.kind"],
    ["an id beside the message", "stream", { message: nameless, messageId }, "message.messageId"],
    ["a part without its kind", "send", { message: { ...message, parts: [{ text: "x" }] } }, "message.parts[0].kind"],
    ["a task to get by its other name", "get", { taskId: "t" }, "id"],
    ["a task to follow by its other name", "subscribe", { taskId: "t" }, "id"],
  ])("refuses %s, which lenient parsing accepts", (...row) => {
    const [, operation, params, field] = row;
    expect(fieldRefused(() => decodeRequest(operation, params, STRICT))).toBe(field);
    expect(refused(operation, params)).toBeUndefined();
  });

  it("accepts requests of this project's clients", () => {
    fc.assert(
      fc.property(rpcRequest, (source) => {
        const { params } = encodeRpcRequest(source);
        expect(decodeRequest(source.operation, JSON.parse(params), STRICT)).toEqual(source);
      }),
      SAMPLES,
    );
  });
});

describe("A 0.3 request", () => {
  const config = { ...push, authentication: { schemes: ["Bearer"], credentials: "c" } };

  it.each<[Operation, unknown, object]>([
    ["get", { id: "t" }, { id: "t", history: undefined }],
    ["get", { id: "t", historyLength: 0, metadata: {} }, { id: "t", history: 0 }],
    ["get", { taskId: "t" }, { id: "t", history: undefined }],
    ["get", { id: "t", taskId: "other" }, { id: "t", history: undefined }],
    ["cancel", { id: "t" }, { id: "t", metadata: {} }],
    ["cancel", { id: "t", metadata: { a: 1 } }, { id: "t", metadata: { a: 1 } }],
    ["subscribe", { id: "t", metadata: {} }, { id: "t" }],
    ["subscribe", { taskId: "t" }, { id: "t" }],
    ["push-create", { taskId: "t", pushNotificationConfig: config }, { taskId: "t", config }],
    // Some callers always write it.
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: { ...push, authentication: {} } },
      { taskId: "t", config: push },
    ],
    [
      "push-create",
      {
        taskId: "t",
        pushNotificationConfig: { ...push, headers: { Authorization: "Bearer s" }, events: ["artifact"] },
      },
      { taskId: "t", config: { ...push, headers: { Authorization: "Bearer s" }, events: ["artifact"] } },
    ],
    ["push-get", { id: "t" }, { taskId: "t" }],
    ["push-get", { id: "t", pushNotificationConfigId: "p" }, { taskId: "t", id: "p" }],
    ["push-list", { id: "t" }, { taskId: "t" }],
    ["push-delete", { id: "t", pushNotificationConfigId: "p" }, { taskId: "t", id: "p" }],
    ["list", {}, { pageSize: 100, artifacts: true, history: undefined }],
    ["extended-card", undefined, {}],
    ["extended-card", null, {}],
  ])("to %s is decoded from %j", (operation, params, expected) => {
    expect(decodeRequest(operation, params, LIBERAL_WAIT)).toEqual({ operation, tenant: "", ...expected });
  });

  it.each<[Operation, unknown, string]>([
    ["get", undefined, "id"],
    ["get", { id: "" }, "id"],
    ["get", { id: 5 }, "id"],
    ["get", { id: "\ud800" }, "id"],
    ["get", { id: "a\0b" }, "id"],
    ["get", { id: "x".repeat(257) }, "id"],
    ["get", { id: "t", historyLength: -1 }, "historyLength"],
    ["get", { id: "t", historyLength: "1" }, "historyLength"],
    ["cancel", {}, "id"],
    ["cancel", { taskId: "t" }, "id"],
    ["cancel", { id: "t", metadata: "x" }, "metadata"],
    ["subscribe", { id: null }, "id"],
    ["push-create", { id: "t", pushNotificationConfig: push }, "taskId"],
    ["push-create", { taskId: "t" }, "pushNotificationConfig"],
    ["push-create", { taskId: "t", pushNotificationConfig: [] }, "pushNotificationConfig"],
    ["push-create", { taskId: "t", pushNotificationConfig: { url: "" } }, "pushNotificationConfig.url"],
    ["push-create", { taskId: "t", pushNotificationConfig: { url: 1 } }, "pushNotificationConfig.url"],
    ["push-create", { taskId: "t", pushNotificationConfig: { ...push, id: 1 } }, "pushNotificationConfig.id"],
    ["push-create", { taskId: "t", pushNotificationConfig: { ...push, token: 1 } }, "pushNotificationConfig.token"],
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: { ...push, authentication: "Bearer" } },
      "pushNotificationConfig.authentication",
    ],
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: { ...push, authentication: { schemes: [] } } },
      "pushNotificationConfig.authentication.schemes",
    ],
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: { ...push, authentication: { credentials: "c" } } },
      "pushNotificationConfig.authentication.schemes",
    ],
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: { ...push, authentication: { schemes: "Bearer" } } },
      "pushNotificationConfig.authentication.schemes",
    ],
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: { ...push, authentication: { schemes: ["a"], credentials: {} } } },
      "pushNotificationConfig.authentication.credentials",
    ],
    [
      "push-create",
      {
        taskId: "t",
        pushNotificationConfig: { ...push, authentication: { schemes: ["a"], credentials: "c\r\nd: e" } },
      },
      "pushNotificationConfig.authentication.credentials",
    ],
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: { ...push, headers: { "X-Key": 1 } } },
      "pushNotificationConfig.headers.X-Key",
    ],
    ["push-get", { taskId: "t" }, "id"],
    ["push-get", { id: "t", pushNotificationConfigId: 1 }, "pushNotificationConfigId"],
    ["push-delete", { id: "t" }, "pushNotificationConfigId"],
    ["push-list", {}, "id"],
    ["extended-card", [], "params"],
  ])("to %s is refused for %j", (operation, params, field) => {
    expect(refused(operation, params)).toBe(field);
  });

  it("is decoded, or refused with a field name, whatever it contains, and is not modified", () => {
    const anyway = fc.tuple(fc.constantFrom(...OPERATIONS), anything);
    const almost = rpcRequest.chain((request) =>
      fc.tuple(
        fc.constant(request.operation),
        mutated(fc.constant<unknown>(JSON.parse(encodeRpcRequest(request).params))),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(anyway, almost), ([operation, params]) => {
        const input = frozen(params);
        refused(operation, input);
      }),
      { ...SAMPLES, numRuns: sampled(250, 2000) },
    );
  });
});
