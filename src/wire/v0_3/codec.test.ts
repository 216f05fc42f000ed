import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES } from "../../protocol/error.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Task } from "../../protocol/task.ts";
import { dialectSettings } from "../options.ts";
import { createRestCodec, createRpcCodec } from "./codec.ts";
import { ROUTES } from "./routes.ts";
import { openingFrame } from "./test/frames.ts";
import { stored } from "./test/models.ts";

const settings = dialectSettings({ blockingDefault: { "0.3/jsonrpc": "return", "0.3/rest-json": 9 } });
const rpc = createRpcCodec(settings);
const rest = createRestCodec(settings);

const reply: Message = {
  messageId: "m" as MessageId,
  role: "agent",
  parts: [{ text: "hi" }, { raw: "aGk=", filename: "a.txt" }],
  contextId: "c" as ContextId,
};
const task: Task = {
  id: "t" as TaskId,
  contextId: "c" as ContextId,
  status: { state: "input-required", message: reply, timestamp: "2026-01-01T00:00:00.000Z" },
  artifacts: [{ artifactId: "a" as ArtifactId, name: "result", parts: [{ data: 5 }] }],
  history: [{ messageId: "u" as MessageId, role: "user", parts: [{ url: "https://x", mediaType: "image/png" }] }],
  metadata: { a: 1 },
};

const wireReply = {
  kind: "message",
  messageId: "m",
  role: "agent",
  parts: [
    { kind: "text", text: "hi" },
    { kind: "file", file: { bytes: "aGk=", name: "a.txt" } },
  ],
  contextId: "c",
};
const wireTask = {
  kind: "task",
  id: "t",
  contextId: "c",
  status: { state: "input-required", message: wireReply, timestamp: "2026-01-01T00:00:00.000Z" },
  artifacts: [
    {
      artifactId: "a",
      name: "result",
      parts: [{ kind: "data", data: { value: 5 }, metadata: { data_part_compat: true } }],
    },
  ],
  history: [
    {
      kind: "message",
      messageId: "u",
      role: "user",
      parts: [{ kind: "file", file: { uri: "https://x", mimeType: "image/png" } }],
    },
  ],
  metadata: { a: 1 },
};

describe("The 0.3 codec of JSON-RPC", () => {
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
    ["agent/getAuthenticatedExtendedCard", "extended-card"],
    ["agent/authenticatedExtendedCard", "extended-card"],
    ["tasks/list", undefined],
    ["tasks/send", undefined],
    ["SendMessage", undefined],
    ["__proto__", undefined],
    ["", undefined],
  ])("maps the method %j to %s", (method, operation) => {
    expect(rpc.operationOf(method)).toBe(operation);
  });

  it("encodes tasks and messages without wrapper, with kind as the first member", () => {
    const sent = rpc.encodeResult({ kind: "sent", task: stored(task) });
    expect(JSON.parse(sent)).toEqual(wireTask);
    expect(sent).toMatch(/^\{"kind":"task",/);
    expect(rpc.encodeResult({ kind: "task", task: stored(task) })).toBe(sent);
    expect(rpc.encodeOpening({ kind: "task", task: stored(task) })).toBe(sent);
    const replied = rpc.encodeResult({ kind: "replied", message: reply });
    expect(JSON.parse(replied)).toEqual(wireReply);
    expect(replied).toMatch(/^\{"kind":"message",/);
    expect(rpc.encodeOpening({ kind: "message", message: reply })).toBe(replied);
  });

  it("encodes only members that the task has", () => {
    const { id, contextId, status } = task;
    const bare = { id, contextId, status: { state: "canceled", timestamp: status.timestamp } } as const;
    expect(JSON.parse(rpc.encodeResult({ kind: "task", task: stored(bare) }))).toEqual({ kind: "task", ...bare });
  });

  it("waits according to blockingDefault if a send has no blocking", () => {
    const message = { messageId: "m", role: "user", parts: [{ kind: "text", text: "x" }] };
    expect(rpc.decodeRequest("send", { message })).toMatchObject({ waitMs: 0 });
  });

  it("sends the error of a streaming method as an event", () => {
    expect(rpc.streamErrorsAsEvents).toBe(true);
  });

  it("has strict parsing if lenient is false", () => {
    const strict = createRpcCodec(dialectSettings({ lenient: false }));
    for (const lenient of [undefined, true]) {
      const usual = createRpcCodec(dialectSettings({ lenient }));
      expect([usual.streamsGets, usual.policy.answersByReference]).toEqual([true, true]);
    }
    expect([strict.streamsGets, strict.policy.answersByReference]).toEqual([false, false]);
    expect(strict.operationOf("agent/getAuthenticatedExtendedCard")).toBe("extended-card");
    expect(strict.operationOf("agent/authenticatedExtendedCard")).toBeUndefined();
    const message = { messageId: "m", role: "user", parts: [{ kind: "text", text: "x" }] };
    expect(rpc.decodeRequest("send", { message })).toBeDefined();
    for (const codec of [strict, createRestCodec(dialectSettings({ lenient: false }))]) {
      const request = { message, path: {}, query: new URLSearchParams(), body: { message } };
      expect(() => codec.decodeRequest("send", request)).toThrow("message.kind: is required");
    }
  });
});

describe("The 0.3 codec of REST in JSON style", () => {
  it("encodes everything without wrapper, and repeats stream frames as result", () => {
    for (const kind of ["sent", "task"] as const) {
      expect(JSON.parse(rest.encodeResult({ kind, task: stored(task) }))).toEqual(wireTask);
    }
    expect(JSON.parse(rest.encodeResult({ kind: "replied", message: reply }))).toEqual(wireReply);
    const opening = openingFrame(rest, { kind: "task", task: stored(task) });
    expect(opening).toEqual({ ...wireTask, result: wireTask });
    expect(openingFrame(rest, { kind: "message", message: reply })).toEqual({ ...wireReply, result: wireReply });
  });

  it("if strict, wraps answers of send and stream, and nothing else", () => {
    const strict = createRestCodec(dialectSettings({ lenient: false }));
    expect(JSON.parse(strict.encodeResult({ kind: "sent", task: stored(task) }))).toEqual({ task: wireTask });
    expect(JSON.parse(strict.encodeResult({ kind: "replied", message: reply }))).toEqual({ message: wireReply });
    expect(openingFrame(strict, { kind: "task", task: stored(task) })).toEqual({ task: wireTask });
    expect(openingFrame(strict, { kind: "message", message: reply })).toEqual({ message: wireReply });
    expect(JSON.parse(strict.encodeResult({ kind: "task", task: stored(task) }))).toEqual(wireTask);
    expect(JSON.parse(strict.encodeError(new A2AError("internal", "No")))).not.toHaveProperty("error");
  });

  it("adds success to the result of setting a webhook, unless strict", () => {
    const push = { kind: "push", taskId: "t" as TaskId, config: { id: "c", url: "https://a/" } } as const;
    for (const codec of [rpc, rest]) {
      expect(JSON.parse(codec.encodeResult({ ...push, set: true }))).toMatchObject({ taskId: "t", success: true });
      expect(codec.encodeResult(push)).not.toContain("success");
    }
    for (const create of [createRpcCodec, createRestCodec]) {
      const strict = create(dialectSettings({ lenient: false }));
      expect(strict.encodeResult({ ...push, set: true })).not.toContain("success");
    }
  });

  it("repeats the first open question as inputRequest of the status message, unless strict", () => {
    const inputRequest = { kind: "input-request", prompt: "And?", requestId: "r-1" };
    const metadata = { inputRequest, inputRequests: [inputRequest, { ...inputRequest, requestId: "r-2" }] };
    const message: Message = { ...reply, metadata };
    const asking: Task = { ...task, status: { ...task.status, state: "input-required", message }, history: [message] };
    const result = { kind: "task", task: stored(asking) } as const;
    for (const codec of [rpc, rest]) {
      const { status, history } = JSON.parse(codec.encodeResult(result));
      expect(status.message).toMatchObject({ inputRequest, metadata });
      expect(history[0]).not.toHaveProperty("inputRequest");
    }
    const strict = createRpcCodec(dialectSettings({ lenient: false }));
    expect(JSON.parse(strict.encodeResult(result)).status.message).not.toHaveProperty("inputRequest");
  });

  it("encodes a list as an array", () => {
    const page = { kind: "tasks", tasks: [stored(task), stored(task)], total: 7, pageSize: 100 } as const;
    expect(JSON.parse(rest.encodeResult(page))).toEqual([wireTask, wireTask]);
    expect(rest.encodeResult({ ...page, tasks: [] })).toBe("[]");
  });

  it("has the media type application/json", () => {
    expect(rest.mediaTypes).toEqual(["application/json"]);
  });

  it("has every route once, with the prefix /v1", () => {
    const routes = ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(routes).size).toBe(routes.length);
    expect(ROUTES.every(({ path }) => path.startsWith("/v1/"))).toBe(true);
  });
});

describe("Both 0.3 codecs", () => {
  it("have the policy of their version", () => {
    for (const codec of [rpc, rest]) {
      expect(codec).toMatchObject({
        version: "0.3",
        extensionsHeader: "x-a2a-extensions",
        policy: {
          closeOnInputRequired: true,
          terminalSubscribe: "snapshot",
          repeatCancel: "error",
          undeclaredExtendedCard: "extended-card-not-configured",
          namesTasks: false,
          tasksOnly: false,
          answersByReference: true,
        },
      });
    }
    expect([rpc.dialect, rest.dialect]).toEqual(["0.3/jsonrpc", "0.3/rest-json"]);
  });

  it.each(ERROR_CODES)("encode the error %s with its reason and without its cause", (code) => {
    const error = new A2AError(code, "No", { cause: new Error("inside"), metadata: { taskId: "t" } });
    const text = rpc.encodeError(error);
    expect(text).not.toContain("inside");
    expect(JSON.parse(text)).toEqual({
      code: expect.any(Number),
      message: "No",
      data: { reason: expect.stringMatching(/^[A-Z_]+$/), taskId: "t" },
    });
    expect(JSON.parse(rest.encodeError(error))).toEqual({ ...JSON.parse(text), error: JSON.parse(text) });
  });

  it.each([
    ["parse-error", -32700, [400, 400]],
    ["invalid-request", -32600, [200, 400]],
    ["method-not-found", -32601, [200, 404]],
    ["method-not-allowed", -32601, [405, 405]],
    ["invalid-params", -32602, [200, 400]],
    ["internal", -32603, [200, 500]],
    ["task-not-found", -32001, [200, 404]],
    ["task-not-cancelable", -32002, [200, 409]],
    ["push-not-supported", -32003, [200, 400]],
    ["unsupported-operation", -32004, [200, 400]],
    ["content-type-not-supported", -32005, [200, 415]],
    ["unsupported-media-type", -32005, [415, 415]],
    ["invalid-agent-response", -32006, [200, 502]],
    ["extended-card-not-configured", -32007, [200, 404]],
    ["extension-support-required", -32602, [200, 400]],
    ["version-not-supported", -32600, [200, 400]],
    ["unauthenticated", -32055, [401, 401]],
    ["permission-denied", -32056, [403, 403]],
    ["rate-limited", -32054, [429, 429]],
    ["resource-exhausted", -32053, [200, 503]],
    ["unavailable", -32057, [503, 503]],
    ["payload-too-large", -32058, [413, 413]],
  ] as const)("tell %s by the code %d and the statuses %j", (code, number, statuses) => {
    const error = new A2AError(code, "No");
    expect(JSON.parse(rpc.encodeError(error))).toMatchObject({ code: number });
    expect([rpc.statusOf(error), rest.statusOf(error)]).toEqual(statuses);
  });

  it("have no error code of a later version", () => {
    for (const code of ERROR_CODES) {
      const encoded: { code: number } = JSON.parse(rpc.encodeError(new A2AError(code, "No")));
      expect([-32008, -32009, -32010, -32011]).not.toContain(encoded.code);
    }
  });

  it("write fields, required extensions and further data into the error's data", () => {
    const violations = [{ field: "message.parts", description: "must have at least one part" }];
    expect(JSON.parse(rpc.encodeError(new A2AError("invalid-params", "No", { violations })))).toEqual({
      code: -32602,
      message: "No",
      data: { reason: "INVALID_PARAMS", violations },
    });
    const metadata = { requiredExtensions: "urn:a,urn:b" };
    expect(JSON.parse(rpc.encodeError(new A2AError("extension-support-required", "No", { metadata })))).toEqual({
      code: -32602,
      message: "No",
      data: { reason: "EXTENSION_SUPPORT_REQUIRED", requiredExtensions: ["urn:a", "urn:b"] },
    });
    const data = { timeoutSeconds: 5 };
    expect(JSON.parse(rpc.encodeError(new A2AError("internal", "No", { data, metadata: { taskId: "t" } })))).toEqual({
      code: -32603,
      message: "No",
      data: { reason: "INTERNAL", taskId: "t", timeoutSeconds: 5 },
    });
  });
});
