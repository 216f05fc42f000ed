import { RestTransport } from "a2a-sdk-v0_3/client";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { A2AError, invalidField } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Operation, OperationRequest, OperationResult } from "../../protocol/operation.ts";
import { writeEvent } from "../../protocol/serial.ts";
import type { Task } from "../../protocol/task.ts";
import { dialectSettings } from "../options.ts";
import { createRestCodec as createJsonCodec } from "../v0_3/codec.ts";
import { createRestClientCodec } from "./client-codec.ts";
import { createRestCodec } from "./codec.ts";
import { encodeOpening } from "./event.ts";
import { message, request, SAMPLES, stored, task } from "./test/models.ts";

const codec = createRestCodec(dialectSettings({}));
const client = createRestClientCodec();

const TASK: Task = {
  id: "t" as TaskId,
  contextId: "c" as ContextId,
  status: { state: "canceled", timestamp: "2030-01-01T00:00:00.000Z" },
};
const REPLY: Message = {
  messageId: "m" as MessageId,
  role: "agent",
  parts: [{ text: "hi" }],
  contextId: "c" as ContextId,
};

test("has its dialect and version", () => {
  expect(codec).toMatchObject({
    dialect: "0.3/rest-proto",
    version: "0.3",
    extensionsHeader: "x-a2a-extensions",
    mediaTypes: ["application/json"],
    policy: {
      closeOnInputRequired: true,
      terminalSubscribe: "snapshot",
      repeatCancel: "error",
      undeclaredExtendedCard: "extended-card-not-configured",
    },
  });
  expect(client).toMatchObject({ dialect: codec.dialect, version: codec.version });
});

describe("an answer", () => {
  const wireTask = {
    id: "t",
    contextId: "c",
    status: { state: "TASK_STATE_CANCELLED", timestamp: "2030-01-01T00:00:00.000Z" },
  };
  test.each<[string, OperationResult, unknown]>([
    ["a task sent to", { kind: "sent", task: stored(TASK) }, { task: wireTask }],
    [
      "a reply",
      { kind: "replied", message: REPLY },
      { message: { messageId: "m", contextId: "c", role: "ROLE_AGENT", content: [{ text: "hi" }] } },
    ],
    ["a task", { kind: "task", task: stored(TASK) }, wireTask],
    ["tasks", { kind: "tasks", tasks: [stored(TASK)], total: 1, pageSize: 100 }, [wireTask]],
    ["no tasks", { kind: "tasks", tasks: [], total: 0, pageSize: 100 }, []],
  ])("that is %s", (_name, result, expected) => {
    expect(JSON.parse(codec.encodeResult(result))).toStrictEqual(expected);
  });

  test("encodes every kind of part, and omits members that the definition lacks", () => {
    const history: Message[] = [
      {
        ...REPLY,
        referenceTaskIds: ["other" as TaskId],
        parts: [
          { text: "hi", mediaType: "text/markdown", filename: "a.md", metadata: { a: 1 } },
          { raw: "aGk=", mediaType: "image/png", filename: "a.png" },
          { url: "https://files.test/a", metadata: { b: 1 } },
          { data: { n: 1 } },
          { data: [1] },
          { data: null, metadata: { data_part_compat: "mine" } },
        ],
      },
    ];
    const artifacts = [{ artifactId: "a" as never, parts: [{ url: "u" }] }];
    const text = codec.encodeResult({ kind: "task", task: stored({ ...TASK, history, artifacts }) });
    expect(JSON.parse(text)).toMatchObject({
      artifacts: [{ artifactId: "a", parts: [{ file: { fileWithUri: "u" } }] }],
      history: [
        {
          messageId: "m",
          contextId: "c",
          role: "ROLE_AGENT",
          content: [
            { text: "hi", metadata: { a: 1, mediaType: "text/markdown", filename: "a.md" } },
            { file: { fileWithBytes: "aGk=", mimeType: "image/png", name: "a.png" } },
            { file: { fileWithUri: "https://files.test/a" }, metadata: { b: 1 } },
            { data: { data: { n: 1 } } },
            { data: { data: { value: [1] } }, metadata: { data_part_compat: true } },
            { data: { data: { value: null } }, metadata: { _data_part_compat: "mine", data_part_compat: true } },
          ],
        },
      ],
    });
    expect(text).not.toContain("referenceTaskIds");
  });

  test("has errors in the format and with the HTTP status of 0.3", () => {
    const error = invalidField("message.content[0].text", "must be a string");
    expect(JSON.parse(codec.encodeError(error))).toMatchObject({ code: -32602, message: error.message });
    expect(codec.statusOf(error)).toBe(400);
    expect(codec.statusOf(new A2AError("task-not-cancelable", ""))).toBe(409);
    expect(client.decodeError(JSON.parse(codec.encodeError(error)), 400)).toMatchObject({
      code: "invalid-params",
      message: error.message,
      violations: error.violations,
    });
  });

  test.each<[Operation, (value: Task) => OperationResult, string]>([
    ["send", (value) => ({ kind: "sent", task: stored(value) }), "sent"],
    ["get", (value) => ({ kind: "task", task: stored(value) }), "task"],
    ["cancel", (value) => ({ kind: "task", task: stored(value) }), "task"],
  ])("to %s decodes to the encoded result", (operation, result, kind) => {
    fc.assert(
      fc.property(task, (value) => {
        const text = codec.encodeResult(result(value));
        expect(text).not.toMatch(/[\r\n]/);
        expect(client.decodeResult(operation, JSON.parse(text))).toStrictEqual({ kind, task: value });
      }),
      SAMPLES,
    );
  });

  test("with tasks and messages decodes to the encoded result", () => {
    fc.assert(
      fc.property(fc.array(task, { maxLength: 3 }), message, (tasks, reply) => {
        const total = tasks.length;
        const list = codec.encodeResult({ kind: "tasks", tasks: tasks.map(stored), total, pageSize: 100 });
        expect(client.decodeResult("list", JSON.parse(list))).toMatchObject({ kind: "tasks", tasks, total });
        const replied = codec.encodeResult({ kind: "replied", message: reply });
        expect(client.decodeResult("send", JSON.parse(replied))).toStrictEqual({ kind: "replied", message: reply });
      }),
      SAMPLES,
    );
  });

  test("in JSON style is decoded as well", () => {
    const other = createJsonCodec(dialectSettings({}));
    fc.assert(
      fc.property(task, message, (value, reply) => {
        const asked = (result: OperationResult): unknown => JSON.parse(other.encodeResult(result));
        expect(client.decodeResult("send", asked({ kind: "sent", task: stored(value) }))).toStrictEqual({
          kind: "sent",
          task: value,
        });
        expect(client.decodeResult("get", asked({ kind: "task", task: stored(value) }))).toStrictEqual({
          kind: "task",
          task: value,
        });
        expect(client.decodeResult("send", asked({ kind: "replied", message: reply }))).toStrictEqual({
          kind: "replied",
          message: reply,
        });
        const opening = asked({ kind: "sent", task: stored(value) });
        expect(client.decodeEvent(opening)).toStrictEqual({ kind: "task", task: value });
      }),
      SAMPLES,
    );
  });

  test.each<[string, unknown, unknown]>([
    [
      "in snake_case, by number",
      {
        id: "t",
        context_id: "c",
        status: { state: 5, update: { message_id: "m", role: 2, content: [{ text: "x" }] } },
        artifacts: [{ artifact_id: "a", parts: [{ file: { file_with_uri: "u", mime_type: "a/b" } }] }],
      },
      {
        id: "t",
        contextId: "c",
        status: {
          state: "canceled",
          message: { messageId: "m", role: "agent", parts: [{ text: "x" }] },
        },
        artifacts: [{ artifactId: "a", parts: [{ url: "u", mediaType: "a/b" }] }],
      },
    ],
    [
      "in the format of later versions",
      { ...wireTask, status: { state: "TASK_STATE_CANCELED" } },
      { status: { state: "canceled" } },
    ],
    ["without what has its default", { id: "t", status: {} }, { id: "t", contextId: "", status: { state: "working" } }],
    [
      "without id and role of a message",
      { id: "t", status: { state: 2, message: { content: [] } } },
      { status: { message: { messageId: "", role: "agent", parts: [] } } },
    ],
    ["wrapped", { task: wireTask }, { id: "t" }],
  ])("is decoded %s", (_name, answer, expected) => {
    expect(client.decodeResult("get", answer)).toMatchObject({ kind: "task", task: expected });
  });

  test.each<[Operation, unknown]>([
    ["get", null],
    ["get", "task"],
    ["get", { status: {} }],
    ["get", { id: "t" }],
    ["get", { id: "t", status: { state: "TASK_STATE_DREAMING" } }],
    ["get", { id: "t", status: { state: 9 } }],
    ["send", {}],
    ["send", { statusUpdate: { taskId: "t", status: {} } }],
    ["send", { message: { role: "ROLE_WIZARD" } }],
    ["send", { message: { content: [{}] } }],
    ["list", "tasks"],
    ["extended-card", []],
  ])("that is invalid throws invalid-agent-response: %s %j", (operation, answer) => {
    expect(() => client.decodeResult(operation, answer)).toThrow(
      expect.objectContaining({ code: "invalid-agent-response" }),
    );
  });
});

describe("a client", () => {
  test.each<[OperationRequest, string, string]>([
    [{ operation: "get", tenant: "", id: "a/b" as TaskId, history: 3 }, "GET", "/v1/tasks/a%2Fb?historyLength=3"],
    [{ operation: "cancel", tenant: "", id: "t" as TaskId, metadata: {} }, "POST", "/v1/tasks/t:cancel"],
    [{ operation: "subscribe", tenant: "", id: "t" as TaskId }, "GET", "/v1/tasks/t:subscribe"],
    [{ operation: "push-list", tenant: "", taskId: "t" as TaskId }, "GET", "/v1/tasks/t/pushNotificationConfigs"],
    [
      { operation: "push-delete", tenant: "", taskId: "t" as TaskId, id: "c" },
      "DELETE",
      "/v1/tasks/t/pushNotificationConfigs/c",
    ],
    [{ operation: "extended-card", tenant: "" }, "GET", "/v1/card"],
  ])("calls %j", (asked, method, path) => {
    expect(client.encodeRequest(asked)).toMatchObject({ method, path });
  });

  test("writes only members of the definition into bodies", () => {
    const known = {
      send: ["message", "configuration", "metadata"],
      "push-create": ["parent", "configId", "config"],
      cancel: ["name"],
    };
    fc.assert(
      fc.property(request, (asked) => {
        const { body } = client.encodeRequest(asked);
        if (body === undefined) return;
        const operation = asked.operation === "stream" ? "send" : asked.operation;
        expect(known).toHaveProperty([operation], expect.arrayContaining(Object.keys(JSON.parse(body))));
      }),
      SAMPLES,
    );
  });
});

describe("the official client", () => {
  /** Answers like a server, with the codec only. */
  function transport(
    operation: Operation,
    answer: (asked: OperationRequest) => string,
    asStream = false,
  ): RestTransport {
    return new RestTransport({
      endpoint: "https://agent.test",
      fetchImpl: async (url, init) => {
        const { pathname, searchParams } = new URL(url instanceof Request ? url.url : url);
        const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
        const [, id = ""] = /\/v1\/tasks\/([^/:]+)/.exec(pathname) ?? [];
        const text = answer(codec.decodeRequest(operation, { path: { id }, query: searchParams, body }));
        const headers = { "content-type": asStream ? "text/event-stream" : "application/json" };
        return new Response(text, { headers });
      },
    });
  }

  const timestamp = "2030-01-01T00:00:00.000Z";
  const artifacts = [
    { artifactId: "a", name: "n", parts: [{ text: "x" }, { raw: "aGk=", mediaType: "image/png" }, { data: { n: 1 } }] },
  ] as unknown as NonNullable<Task["artifacts"]>;
  const done: Task = {
    ...TASK,
    status: { state: "completed", message: REPLY, timestamp },
    artifacts,
    history: [REPLY],
  };
  const said = {
    kind: "message" as const,
    messageId: "u",
    role: "user" as const,
    parts: [
      { kind: "text" as const, text: "hi" },
      { kind: "file" as const, file: { uri: "https://files.test/a", mimeType: "image/png" } },
      { kind: "file" as const, file: { bytes: "aGk=", mimeType: "image/png" } },
      { kind: "data" as const, data: { n: 1 } },
    ],
  };
  const reply = {
    kind: "message",
    messageId: "m",
    role: "agent",
    contextId: "c",
    parts: [{ kind: "text", text: "hi" }],
  };

  test("sends a message and reads the answer", async () => {
    const asked: OperationRequest[] = [];
    const sending = transport("send", (request) => {
      asked.push(request);
      return codec.encodeResult({ kind: "sent", task: stored(done) });
    });
    const configuration = { acceptedOutputModes: ["text/plain"], blocking: true, historyLength: 2 };
    expect(await sending.sendMessage({ message: said, configuration, metadata: { r: 1 } })).toMatchObject({
      kind: "task",
      id: "t",
      contextId: "c",
      status: { state: "completed", timestamp, message: reply },
      artifacts: [
        {
          artifactId: "a",
          name: "n",
          parts: [
            { kind: "text", text: "x" },
            { kind: "file", file: { bytes: "aGk=", mimeType: "image/png" } },
            { kind: "data", data: { n: 1 } },
          ],
        },
      ],
      history: [reply],
    });
    expect(asked).toMatchObject([
      {
        message: {
          messageId: "u",
          parts: [
            { text: "hi" },
            { url: "https://files.test/a", mediaType: "image/png" },
            { raw: "aGk=", mediaType: "image/png" },
            { data: { n: 1 } },
          ],
        },
        metadata: { r: 1 },
        outputModes: ["text/plain"],
        history: 2,
        waitMs: Number.POSITIVE_INFINITY,
      },
    ]);
  });

  test("gets and cancels a task, and reads a message as reply", async () => {
    const task = (): string => codec.encodeResult({ kind: "task", task: stored(TASK) });
    expect(await transport("get", task).getTask({ id: "t" })).toMatchObject({ id: "t", status: { state: "canceled" } });
    expect(await transport("cancel", task).cancelTask({ id: "t" })).toMatchObject({ status: { state: "canceled" } });
    const replied = transport("send", () => codec.encodeResult({ kind: "replied", message: REPLY }));
    expect(await replied.sendMessage({ message: said })).toMatchObject(reply);
  });

  test("reads a stream", async () => {
    const place = { taskId: "t" as TaskId, contextId: "c" as ContextId };
    const [artifact] = artifacts;
    if (artifact === undefined) throw new Error("There is one.");
    const frames = [
      encodeOpening({ kind: "task", task: stored({ ...TASK, status: { state: "submitted", timestamp } }) }),
      codec.encodeEvent(
        { body: writeEvent({ kind: "artifact", artifact, append: false, lastChunk: true }) },
        { ...place, final: false },
      ),
      codec.encodeEvent(
        { body: writeEvent({ kind: "status", status: done.status }), state: "completed" },
        { ...place, final: true },
      ),
    ];
    const streaming = transport("stream", () => frames.map((frame) => `data: ${frame}\n\n`).join(""), true);
    const received = await Array.fromAsync(streaming.sendMessageStream({ message: said }));
    expect(received).toMatchObject([
      { kind: "task", id: "t", status: { state: "submitted" } },
      {
        kind: "artifact-update",
        taskId: "t",
        contextId: "c",
        lastChunk: true,
        artifact: { parts: [{ text: "x" }, {}, {}] },
      },
      { kind: "status-update", taskId: "t", status: { state: "completed", message: reply }, final: true },
    ]);
  });

  test("reads the card", async () => {
    const card = {
      name: "n",
      description: "d",
      version: "1",
      interfaces: [{ url: "https://agent.test/a2a", binding: "JSONRPC", protocolVersion: "0.3" }],
      capabilities: { streaming: true, extendedAgentCard: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "s", name: "S", description: "d", tags: ["t"], security: [{ key: [] }] }],
      securitySchemes: {
        key: { type: "apiKey" as const, in: "header" as const, name: "X-Key" },
        bearer: { type: "http" as const, scheme: "bearer" },
        login: {
          type: "oauth2" as const,
          flows: { clientCredentials: { tokenUrl: "https://id.test", scopes: { a: "A" } } },
        },
        device: {
          type: "oauth2" as const,
          flows: { deviceCode: { deviceAuthorizationUrl: "https://id.test", tokenUrl: "https://id.test", scopes: {} } },
        },
        oidc: { type: "openIdConnect" as const, openIdConnectUrl: "https://id.test" },
        mtls: { type: "mutualTLS" as const },
      },
      security: [{ key: [], login: ["a"] }, { mtls: [] }],
    };
    const read = await transport("extended-card", () =>
      codec.encodeResult({ kind: "card", card }),
    ).getExtendedAgentCard();
    const { device: _unknown, ...schemes } = card.securitySchemes;
    expect(read).toMatchObject({
      name: "n",
      protocolVersion: "0.3.0",
      url: "https://agent.test/a2a",
      preferredTransport: "JSONRPC",
      supportsAuthenticatedExtendedCard: true,
      capabilities: { streaming: true },
      securitySchemes: schemes,
      security: card.security,
      skills: card.skills,
    });
    expect(read.securitySchemes).not.toHaveProperty("device");
  });
});
