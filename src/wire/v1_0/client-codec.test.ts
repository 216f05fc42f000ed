import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { A2AError, type ErrorCode } from "../../protocol/error.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { OPERATIONS, type Operation, type OperationRequest } from "../../protocol/operation.ts";
import { readTask, writeEvent } from "../../protocol/serial.ts";
import type { ClientRequest, RestCall } from "../client/client-codec.ts";
import type { Codec, RestRequest, StreamOpening } from "../codec.ts";
import { encodePageToken } from "../fields/page-token.ts";
import { dialectSettings } from "../options.ts";
import { createRestClientCodec, createRpcClientCodec } from "./client-codec.ts";
import { createRestCodec, createRpcCodec } from "./codec.ts";
import { ROUTES } from "./routes.ts";
import { anything } from "./test/hostile.ts";
import * as models from "./test/models.ts";

const { SAMPLES } = models;

const BINDINGS = [
  ["JSON-RPC", createRpcClientCodec(), createRpcCodec()],
  ["REST", createRestClientCodec(), createRestCodec(dialectSettings({}))],
  ["REST of the first edition", createRestClientCodec(), createRestCodec(dialectSettings({ errorProfile: "1.0.0" }))],
] as const;
const [[, rpcClient, rpcServer], [, restClient, restServer]] = BINDINGS;

/** A stream of 1.0 begins with one frame. */
function openingOf(codec: Codec, opening: StreamOpening): string {
  const text = codec.encodeOpening(opening);
  if (typeof text !== "string") throw new Error("There are several.");
  return text;
}

/** The route of a call, found by one pattern per route, the longest first. */
function routed({ method, path, body }: RestCall): readonly [Operation, RestRequest] {
  const { pathname, searchParams } = new URL(`http://host${path}`);
  const patterns = ["", "/{tenant}"].flatMap((prefix) =>
    ROUTES.map((route) => ({ ...route, pattern: patternOf(`${prefix}${route.path}`) })),
  );
  for (const { pattern, operation, method: verb } of patterns.toSorted((a, b) => +isSuffixed(b) - +isSuffixed(a))) {
    const match = verb === method ? pattern.exec(pathname) : null;
    if (match === null) continue;
    const names = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]);
    const parsed: unknown = body === undefined ? undefined : JSON.parse(body);
    return [operation, { path: Object.fromEntries(names), query: searchParams, body: parsed }];
  }
  throw new Error(`No route for ${method} ${path}`);
}

function isSuffixed({ path }: { path: string }): boolean {
  return path.includes("}:");
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+?)")}$`);
}

/** The client's request, with an opaque page token. */
function asked(request: OperationRequest): ClientRequest {
  if (request.operation !== "list") return request;
  const { before, ...list } = request;
  return { ...list, ...(before !== undefined && { pageToken: encodePageToken(before) }) };
}

describe("A request of 1.0", () => {
  it("decodes from JSON-RPC to the encoded request", () => {
    fc.assert(
      fc.property(models.request, (request) => {
        const { method, params } = rpcClient.encodeRequest(asked(request));
        expect(rpcServer.operationOf(method)).toBe(request.operation);
        expect(rpcServer.decodeRequest(request.operation, JSON.parse(params))).toEqual(request);
      }),
      SAMPLES,
    );
  });

  it("decodes from REST to the encoded request", () => {
    fc.assert(
      fc.property(models.request, (request) => {
        // A tenant with the name of a route is excluded: servers match routes first.
        fc.pre(!["tasks", "extendedAgentCard"].includes(request.tenant));
        const [operation, taken] = routed(restClient.encodeRequest(asked(request)));
        expect(operation).toBe(request.operation);
        expect(restServer.decodeRequest(operation, taken)).toEqual(request);
      }),
      SAMPLES,
    );
  });

  it("omits members that have their default values", () => {
    const list: ClientRequest = {
      operation: "list",
      tenant: "",
      pageSize: 50,
      artifacts: false,
      history: undefined,
    };
    expect(rpcClient.encodeRequest(list)).toEqual({ method: "ListTasks", params: '{"pageSize":50}' });
    expect(restClient.encodeRequest(list)).toEqual({ method: "GET", path: "/tasks?pageSize=50" });
    const cancel: OperationRequest = { operation: "cancel", tenant: "", id: "t" as TaskId, metadata: {} };
    expect(rpcClient.encodeRequest(cancel)).toEqual({ method: "CancelTask", params: '{"id":"t"}' });
    expect(restClient.encodeRequest(cancel)).toEqual({ method: "POST", path: "/tasks/t:cancel", body: "{}" });
  });

  it.each([".", ".."])("refuses an id that is a relative path segment: %s", (id) => {
    const request: OperationRequest = { operation: "subscribe", tenant: "", id: id as TaskId };
    expect(() => restClient.encodeRequest(request)).toThrow(
      `id: must not be ${id}, which is not allowed in a URL path`,
    );
    expect(rpcClient.encodeRequest(request).params).toBe(`{"id":"${id}"}`);
  });

  it("requires the id of a webhook", () => {
    const request: OperationRequest = { operation: "push-get", tenant: "", taskId: "t" as TaskId };
    expect(() => rpcClient.encodeRequest(request)).toThrow("id: is required");
    expect(() => restClient.encodeRequest(request)).toThrow("id: is required");
  });
});

describe.each(BINDINGS)("An answer of 1.0 by %s", (_binding, client, server) => {
  it("decodes to the encoded tasks", () => {
    fc.assert(
      fc.property(models.storedTask, (task) => {
        const wire = (text: string): unknown => JSON.parse(text);
        const expected = readTask(task);
        const one = wire(server.encodeResult({ kind: "task", task }));
        for (const operation of ["get", "cancel"] as const) {
          expect(client.decodeResult(operation, one)).toEqual({ kind: "task", task: expected });
        }
        const sent = wire(server.encodeResult({ kind: "sent", task }));
        expect(client.decodeResult("send", sent)).toEqual({ kind: "sent", task: expected });
        expect(client.decodeEvent(wire(openingOf(server, { kind: "task", task })))).toEqual({
          kind: "task",
          task: expected,
        });
        const page = { kind: "tasks", tasks: [task], total: 7, pageSize: 1, next: { at: 1, id: "x" } } as const;
        expect(client.decodeResult("list", wire(server.encodeResult(page)))).toEqual({
          kind: "tasks",
          tasks: [expected],
          total: 7,
          pageSize: 1,
          nextPageToken: expect.stringMatching(/^[\w-]+$/),
        });
      }),
      SAMPLES,
    );
  });

  it("decodes to the encoded messages", () => {
    fc.assert(
      fc.property(models.message, (message) => {
        const replied = JSON.parse(server.encodeResult({ kind: "replied", message }));
        expect(client.decodeResult("send", replied)).toEqual({ kind: "replied", message });
        const opening = JSON.parse(openingOf(server, { kind: "message", message }));
        expect(client.decodeEvent(opening)).toEqual({ kind: "message", message });
      }),
      SAMPLES,
    );
  });

  it("decodes to the encoded events", () => {
    fc.assert(
      fc.property(models.event, models.taskId, models.contextId, (event, taskId, contextId) => {
        const state = event.kind === "status" ? { state: event.status.state } : {};
        const text = server.encodeEvent({ body: writeEvent(event), ...state }, { taskId, contextId, final: false });
        expect(client.decodeEvent(JSON.parse(text))).toEqual({ ...event, taskId, contextId, final: false });
      }),
      SAMPLES,
    );
  });

  it("decodes to the encoded extended card", () => {
    fc.assert(
      fc.property(models.card, (card) => {
        const text = server.encodeResult({ kind: "card", card });
        const result = client.decodeResult("extended-card", JSON.parse(text));
        if (result.kind !== "card") throw new Error(result.kind);
        expect(server.encodeResult(result)).toBe(text);
      }),
      { ...SAMPLES, numRuns: 50 },
    );
  });

  it("decodes to the encoded errors", () => {
    /** Errors that share a reason. */
    const sharedReasons: Partial<Record<ErrorCode, ErrorCode>> = {
      "unsupported-media-type": "content-type-not-supported",
    };
    fc.assert(
      fc.property(models.error, (error) => {
        const read = client.decodeError(JSON.parse(server.encodeError(error)), server.statusOf(error));
        expect(read.code).toBe(sharedReasons[error.code] ?? error.code);
        expect(read.message).toBe(error.message);
        expect(read.violations).toEqual(error.violations);
        expect(read.metadata).toEqual({ ...error.metadata });
      }),
      SAMPLES,
    );
  });
});

const TASK = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };
const READ_TASK = { id: "t", contextId: "c", status: { state: "working" } };
const MESSAGE = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "x" }] };
const READ_MESSAGE = { messageId: "m", role: "agent", parts: [{ text: "x" }] };

describe("The client decoder of 1.0", () => {
  it("accepts tasks and messages wrapped or bare, with or without kind", () => {
    for (const value of [TASK, { task: TASK }, { kind: "task", ...TASK }, { task: { kind: "task", ...TASK } }]) {
      expect(rpcClient.decodeResult("send", value)).toEqual({ kind: "sent", task: READ_TASK });
      expect(rpcClient.decodeResult("get", value)).toEqual({ kind: "task", task: READ_TASK });
      expect(rpcClient.decodeResult("subscribe", value)).toEqual({ kind: "task", task: READ_TASK });
      expect(rpcClient.decodeEvent(value)).toEqual({ kind: "task", task: READ_TASK });
    }
    for (const value of [MESSAGE, { message: MESSAGE, task: null }, { kind: "message", ...MESSAGE }]) {
      expect(rpcClient.decodeResult("send", value)).toEqual({ kind: "replied", message: READ_MESSAGE });
      expect(rpcClient.decodeEvent(value)).toEqual({ kind: "message", message: READ_MESSAGE });
    }
  });

  it("accepts events wrapped or bare, in snake_case, and with final", () => {
    const place = { taskId: "t", contextId: "c" };
    const status = { kind: "status", status: READ_TASK.status, taskId: "t", contextId: "c", final: false };
    expect(rpcClient.decodeEvent({ statusUpdate: { ...place, status: TASK.status } })).toEqual(status);
    expect(rpcClient.decodeEvent({ status_update: { task_id: "t", context_id: "c", status: TASK.status } })).toEqual(
      status,
    );
    expect(rpcClient.decodeEvent({ kind: "status-update", ...place, status: TASK.status, final: true })).toEqual({
      ...status,
      final: true,
    });
    const artifact = {
      kind: "artifact",
      artifact: { artifactId: "a", parts: [{ text: "x" }] },
      append: false,
      lastChunk: true,
      taskId: "t",
      contextId: "c",
      final: false,
    };
    const update = { artifact: { artifact_id: "a", parts: [{ text: "x" }] }, last_chunk: true };
    expect(rpcClient.decodeEvent({ artifactUpdate: { ...place, ...update, append: null } })).toEqual(artifact);
    expect(rpcClient.decodeEvent({ kind: "artifact-update", ...place, ...update })).toEqual(artifact);
  });

  it.each([
    [1, "submitted"],
    [5, "canceled"],
    ["TASK_STATE_CANCELLED", "canceled"],
    ["canceled", "canceled"],
    ["input-required", "input-required"],
    ["TASK_STATE_AUTH_REQUIRED", "auth-required"],
  ])("decodes the state %j as %s", (state, expected) => {
    const result = rpcClient.decodeResult("get", { ...TASK, status: { state } });
    expect(result).toMatchObject({ task: { status: { state: expected } } });
    expect(result).not.toHaveProperty("task.status.isUnspecified");
  });

  it.each([0, null, "TASK_STATE_UNSPECIFIED", "unknown"])(
    "decodes the state %j as working, marked as unspecified",
    (state) => {
      expect(rpcClient.decodeResult("get", { ...TASK, status: { state } })).toMatchObject({
        task: { status: { state: "working", isUnspecified: true } },
      });
    },
  );

  it.each([
    ["2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123Z"],
    ["2026-01-02T03:04:05+01:00", "2026-01-02T02:04:05.000Z"],
    ["2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"],
    ["soon", undefined],
    [5, undefined],
  ])("decodes the time %j as %s", (timestamp, expected) => {
    expect(rpcClient.decodeResult("get", { ...TASK, status: { state: 2, timestamp } })).toMatchObject({
      task: {
        status:
          expected === undefined
            ? expect.not.objectContaining({ timestamp: expect.anything() })
            : { timestamp: expected },
      },
    });
  });

  it("decodes null as absent, and missing members as empty", () => {
    const message = { parts: [{ text: "x", data: null, metadata: null }, { data: null }, null], extensions: null };
    const wire = { id: "t", status: { state: 2, message }, artifacts: null, history: [null], metadata: null };
    expect(rpcClient.decodeResult("get", wire)).toEqual({
      kind: "task",
      task: {
        id: "t",
        contextId: "",
        status: {
          state: "working",
          message: { messageId: "", role: "agent", parts: [{ text: "x" }, { data: null }] },
        },
        history: [],
      },
    });
  });

  it("accepts lists without totalSize and pageSize, and bare arrays", () => {
    const expected = { kind: "tasks", tasks: [READ_TASK], total: 1, pageSize: 1, nextPageToken: "" };
    expect(restClient.decodeResult("list", { tasks: [TASK] })).toEqual(expected);
    expect(restClient.decodeResult("list", [TASK])).toEqual(expected);
    expect(
      restClient.decodeResult("list", { tasks: [TASK], total_size: "9", page_size: 3, next_page_token: "n" }),
    ).toEqual({ ...expected, total: 9, pageSize: 3, nextPageToken: "n" });
    expect(restClient.decodeResult("list", {})).toMatchObject({ tasks: [], total: 0 });
  });

  it("accepts a task with thousands of parts, and data up to the maximum depth", () => {
    const artifacts = [{ artifactId: "a", parts: Array.from({ length: 5000 }, () => ({ text: "x" })) }];
    expect(rpcClient.decodeResult("get", { ...TASK, artifacts })).toMatchObject({ kind: "task" });
    const nested: unknown = JSON.parse("[".repeat(5000) + "]".repeat(5000));
    expect(() => rpcClient.decodeResult("get", { ...TASK, metadata: { nested } })).toThrow(
      "must not be nested deeper than 64 levels",
    );
  });

  it("accepts webhooks flat or nested, and any result of a deletion", () => {
    const authentication = { scheme: "Bearer", credentials: "secret" };
    const config = { taskId: "t", id: "c", url: "https://x", authentication };
    const expected = { ...config, authentication: { schemes: ["Bearer"], credentials: "secret" } };
    expect(rpcClient.decodeResult("push-create", config)).toEqual({ kind: "push-config", config: expected });
    const { taskId, ...rest } = config;
    const nested = {
      taskId,
      pushNotificationConfig: { ...rest, authentication: { schemes: ["Bearer"], credentials: "secret" } },
    };
    expect(rpcClient.decodeResult("push-get", nested)).toEqual({ kind: "push-config", config: expected });
    const list = { kind: "push-configs", configs: [expected], nextPageToken: "" };
    expect(rpcClient.decodeResult("push-list", { configs: [config] })).toEqual(list);
    expect(rpcClient.decodeResult("push-list", [nested])).toEqual(list);
    for (const empty of [{}, null, undefined]) {
      expect(rpcClient.decodeResult("push-delete", empty)).toEqual({ kind: "done" });
    }
  });

  it.each([
    ["send", {}, "event"],
    ["send", null, "event"],
    ["send", "task", "event"],
    ["send", { statusUpdate: { taskId: "t", contextId: "c", status: TASK.status } }, "result"],
    ["get", null, "result"],
    ["get", [TASK], "result"],
    ["get", { ...TASK, id: "" }, "result.id"],
    ["get", { ...TASK, status: undefined }, "result.status"],
    ["get", { ...TASK, status: { state: "TASK_STATE_PAUSED" } }, "result.status.state"],
    ["get", { ...TASK, status: { state: 9 } }, "result.status.state"],
    ["get", { ...TASK, status: { state: 2, message: { ...MESSAGE, role: "system" } } }, "result.status.message.role"],
    ["get", { ...TASK, artifacts: [{ artifactId: "a", parts: [{}] }] }, "result.artifacts[0].parts[0]"],
    ["get", { ...TASK, artifacts: [{ artifactId: "a", parts: [{ raw: "!" }] }] }, "result.artifacts[0].parts[0].raw"],
    ["get", { ...TASK, artifacts: [{ parts: [] }] }, "result.artifacts[0].artifactId"],
    ["list", { tasks: "none" }, "result.tasks"],
    ["list", { tasks: [TASK, {}] }, "result.tasks[1].id"],
    ["extended-card", [], "card"],
    ["extended-card", { skills: {} }, "skills"],
    ["push-get", "x", "result"],
  ] as const)("cannot make anything of %s → %j", (operation, value, field) => {
    const read = (): unknown => rpcClient.decodeResult(operation, value);
    expect(read).toThrow(A2AError);
    expect(read).toThrow(
      expect.objectContaining({
        code: "invalid-agent-response",
        violations: [{ field, description: expect.any(String) }],
      }),
    );
  });

  it("decodes any answer, or throws invalid-agent-response", () => {
    fc.assert(
      fc.property(fc.constantFrom(...OPERATIONS), anything, fc.integer(), (operation, value, status) => {
        expect(rpcClient.decodeError(value, status)).toBeInstanceOf(A2AError);
        for (const read of [() => rpcClient.decodeResult(operation, value), () => rpcClient.decodeEvent(value)]) {
          try {
            read();
          } catch (thrown) {
            expect(thrown).toMatchObject({ name: "A2AError", code: "invalid-agent-response" });
          }
        }
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
  });
});

const info = (reason: string): object => ({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason });

describe("An error for a client of 1.0", () => {
  it.each<[name: string, value: unknown, status: number, code: ErrorCode, message: string]>([
    ["its reason", { code: -32603, message: "m", data: [info("TASK_NOT_FOUND")] }, 500, "task-not-found", "m"],
    [
      "its code, if the reason says nothing",
      { code: -32002, message: "m", data: [info("X")] },
      500,
      "task-not-cancelable",
      "m",
    ],
    ["its code, if there is no reason", { code: -32001, message: "m" }, 200, "task-not-found", "m"],
    [
      "the reason in a REST body",
      { error: { code: 400, message: "m", details: [info("UNSUPPORTED_OPERATION")] } },
      400,
      "unsupported-operation",
      "m",
    ],
    [
      "the status, if there is neither",
      { error: { code: 404, status: "NOT_FOUND", message: "m" } },
      404,
      "task-not-found",
      "m",
    ],
    [
      "the status of a problem",
      { type: "about:blank", title: "Gone", detail: "m", status: 409 },
      409,
      "task-not-cancelable",
      "m",
    ],
    ["a problem's title", { title: "m", status: 401 }, 401, "unauthenticated", "m"],
    ["a bare message", { message: "m" }, 403, "permission-denied", "m"],
    ["a bare text as error", { error: "m" }, 429, "rate-limited", "m"],
    ["a text", "m", 503, "unavailable", "m"],
    ["nothing but a status", undefined, 502, "unavailable", "The agent answered with HTTP 502"],
    ["a status of no meaning here", {}, 418, "invalid-request", "The agent answered with HTTP 418"],
    ["a success that is none", null, 200, "internal", "The agent answered with HTTP 200"],
    ["an unknown code", { code: -32000, message: "m" }, 401, "unauthenticated", "m"],
  ])("is identified by %s", (...row) => {
    const [, value, status, code, message] = row;
    for (const client of [rpcClient, restClient]) {
      const error = client.decodeError(value, status);
      expect([error.code, error.message]).toEqual([code, message]);
    }
  });

  it("keeps valid metadata and field violations", () => {
    const data = [
      { ...info("INVALID_PARAMS"), metadata: { a: "x", b: 1 } },
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "id", description: "no" }, {}, 5],
      },
      null,
    ];
    const error = rpcClient.decodeError({ code: -32602, message: "m", data }, 200);
    expect(error.metadata).toEqual({ a: "x" });
    expect(error.violations).toEqual([
      { field: "id", description: "no" },
      { field: "", description: "" },
    ]);
    expect(rpcClient.decodeError({ code: -32602, message: "m", data: { taskId: "t" } }, 200).data).toEqual({
      taskId: "t",
    });
  });
});

describe("The clients of 1.0", () => {
  it("have their dialects", () => {
    expect([rpcClient.dialect, restClient.dialect]).toEqual(["1.0/jsonrpc", "1.0/rest"]);
    expect([rpcClient.dialect, restClient.dialect]).toEqual([rpcServer.dialect, restServer.dialect]);
    const event = rpcClient.decodeEvent({ statusUpdate: { taskId: "t", status: TASK.status } });
    expect(event).toMatchObject({ contextId: "" as ContextId });
  });
});
