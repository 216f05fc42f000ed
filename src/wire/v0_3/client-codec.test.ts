import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { A2AError } from "../../protocol/error.ts";
import type { Operation, OperationRequest } from "../../protocol/operation.ts";
import type { Codec, RestRequest } from "../codec.ts";
import { dialectSettings } from "../options.ts";
import { createRestClientCodec, createRpcClientCodec } from "./client-codec.ts";
import { createRestCodec, createRpcCodec } from "./codec.ts";
import { ROUTES } from "./routes.ts";
import { itReadsAnswers } from "./test/answers.ts";
import { anything, mutated } from "./test/hostile.ts";
import { card, request, rpcRequest, SAMPLES, stored, task } from "./test/models.ts";

const settings = dialectSettings({});
const rpc = createRpcCodec(settings);
const rest = createRestCodec(settings);
const rpcClient = createRpcClientCodec();
const restClient = createRestClientCodec();

/** The operation of a call and the parts of its request, as the router returns them. */
function routed(call: ReturnType<typeof restClient.encodeRequest>): readonly [Operation, RestRequest] {
  const { pathname, searchParams } = new URL(`http://agent${call.path}`);
  for (const { method, path, operation } of ROUTES) {
    if (method !== call.method) continue;
    const names: string[] = [];
    const pattern = path.replaceAll(/\{(\w+)\}/g, (_braced, name: string) => {
      names.push(name);
      return "([^/:]+)";
    });
    const match = new RegExp(`^${pattern}$`).exec(pathname);
    if (match === null) continue;
    const values = match.slice(1).map(decodeURIComponent);
    const parameters = Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
    const body: unknown = call.body === undefined ? undefined : JSON.parse(call.body);
    return [operation, { path: parameters, query: searchParams, body }];
  }
  throw new Error(`No route for ${call.method} ${call.path}`);
}

describe("A 0.3 client", () => {
  it("is decoded by the server codec of JSON-RPC", () => {
    fc.assert(
      fc.property(rpcRequest, (asked: OperationRequest) => {
        const { method, params } = rpcClient.encodeRequest(asked);
        expect(rpc.operationOf(method)).toBe(asked.operation);
        expect(rpc.decodeRequest(asked.operation, JSON.parse(params))).toEqual(asked);
      }),
      { ...SAMPLES, numRuns: sampled(40, 300) },
    );
  });

  it("is decoded by the server codec of REST", () => {
    fc.assert(
      fc.property(request, (asked: OperationRequest) => {
        const [operation, sent] = routed(restClient.encodeRequest(asked));
        expect(operation).toBe(asked.operation);
        expect(rest.decodeRequest(operation, sent)).toEqual(asked);
      }),
      { ...SAMPLES, numRuns: sampled(40, 300) },
    );
  });

  it("cannot list tasks over JSON-RPC", () => {
    const list = { operation: "list", tenant: "", pageSize: 100, artifacts: true, history: undefined } as const;
    expect(() => rpcClient.encodeRequest(list)).toThrow(expect.objectContaining({ code: "unsupported-operation" }));
  });

  it("refuses ids that are relative path segments", () => {
    const get = { operation: "get", tenant: "", id: ".." as never, history: undefined } as const;
    expect(() => restClient.encodeRequest(get)).toThrow(expect.objectContaining({ code: "invalid-params" }));
  });
});

describe.each([
  ["JSON-RPC", rpc as Codec, rpcClient],
  ["REST", rest as Codec, restClient],
])("An answer of 0.3 over %s", (_binding, server, client) => {
  itReadsAnswers({ server, client, card });

  it("decodes to the encoded lists", () => {
    fc.assert(
      fc.property(fc.array(task, { maxLength: 3 }), (tasks) => {
        const page = { kind: "tasks", tasks: tasks.map(stored), total: 9, pageSize: 100 } as const;
        expect(client.decodeResult("list", JSON.parse(server.encodeResult(page)))).toMatchObject({
          kind: "tasks",
          tasks,
          nextPageToken: "",
        });
      }),
      { ...SAMPLES, numRuns: 50 },
    );
  });
});

describe("A 0.3 client decodes", () => {
  const status = { state: "working" };
  const bare = { id: "t", contextId: "c", status: { state: "working" } };
  const update = { taskId: "t", contextId: "c", final: false };
  const artifact = { artifactId: "a", parts: [{ text: "x" }] };
  const reply = { messageId: "m", role: "agent", parts: [{ text: "x" }] };

  it.each([
    ["a task without its kind", { id: "t", contextId: "c", status }, { kind: "task", task: bare }],
    ["a task in a wrapper", { task: { kind: "task", id: "t", contextId: "c", status } }, { kind: "task", task: bare }],
    ["a task without a context", { id: "t", status }, { kind: "task", task: { ...bare, contextId: "" } }],
    ["a message without its kind", reply, { kind: "message", message: reply }],
    ["a message in a wrapper", { message: reply }, { kind: "message", message: reply }],
    [
      "a message without role and id",
      { kind: "message", parts: [{ type: "text", text: "x" }] },
      { kind: "message", message: { ...reply, messageId: "" } },
    ],
    ["a status without its kind", { ...update, status }, { kind: "status", ...update, status: bare.status }],
    [
      "a status in a wrapper",
      { statusUpdate: { ...update, status, final: true } },
      { kind: "status", ...update, status: bare.status, final: true },
    ],
    [
      "a status that does not say whether it ends",
      { kind: "status-update", taskId: "t", contextId: "c", status },
      { kind: "status", ...update, status: bare.status },
    ],
    [
      "an artifact without its kind",
      { taskId: "t", contextId: "c", artifact },
      { kind: "artifact", ...update, artifact, append: false, lastChunk: false },
    ],
    [
      "an artifact in a wrapper",
      { artifactUpdate: { taskId: "t", contextId: "c", artifact, append: true, lastChunk: true } },
      { kind: "artifact", ...update, artifact, append: true, lastChunk: true },
    ],
    [
      "an artifact that is sent part by part, by its number",
      { kind: "artifact-update", ...update, index: 2, part: { kind: "text", text: "x", index: 2, append: true } },
      { kind: "artifact", ...update, artifact: { ...artifact, artifactId: "2" }, append: true, lastChunk: false },
    ],
    [
      "a question in a member of its own",
      { ...reply, inputRequest: { kind: "input-request", requestId: "q" }, metadata: { a: 1 } },
      {
        kind: "message",
        message: { ...reply, metadata: { a: 1, inputRequest: { kind: "input-request", requestId: "q" } } },
      },
    ],
    [
      "the use of a tool",
      { ...reply, parts: [{ kind: "tool-use", toolUseId: "q", name: "search" }] },
      {
        kind: "message",
        message: {
          ...reply,
          parts: [{ data: { toolUseId: "q", name: "search" }, metadata: { kind: "tool-use" } }],
        },
      },
    ],
  ])("%s", (_what, frame, expected) => {
    expect(rpcClient.decodeEvent(frame)).toEqual(expected);
  });

  it.each([
    ["cancelled", "canceled"],
    ["TASK_STATE_CANCELLED", "canceled"],
    ["TASK_STATE_CANCELED", "canceled"],
    ["TASK_STATE_INPUT_REQUIRED", "input-required"],
    ["auth-required", "auth-required"],
    ["started", "submitted"],
    ["unknown", "working"],
    ["TASK_STATE_UNSPECIFIED", "working"],
    [undefined, "working"],
    [null, "working"],
  ])("the state %j as %s", (state, expected) => {
    expect(rpcClient.decodeResult("get", { id: "t", status: { state } })).toMatchObject({
      task: { status: { state: expected } },
    });
  });

  it.each([
    ["2025-04-02T16:59:25.331844", "2025-04-02T16:59:25.331Z"],
    ["2025-04-02T16:59:25Z", "2025-04-02T16:59:25.000Z"],
    ["2025-04-02T18:59:25+02:00", "2025-04-02T16:59:25.000Z"],
    ["yesterday", undefined],
    [undefined, undefined],
  ])("the time %j as %s", (timestamp, expected) => {
    expect(rpcClient.decodeResult("get", { id: "t", status: { state: "working", timestamp } })).toMatchObject({
      task: {
        status:
          expected === undefined
            ? expect.not.objectContaining({ timestamp: expect.anything() })
            : { timestamp: expected },
      },
    });
  });

  const config = { url: "https://x", id: "p", authentication: { schemes: ["Bearer"] } };

  it.each<[Operation, unknown, object]>([
    [
      "push-create",
      { taskId: "t", pushNotificationConfig: config },
      { kind: "push-config", config: { ...config, taskId: "t" } },
    ],
    ["push-create", { success: true }, { kind: "done" }],
    [
      "push-get",
      { name: "tasks/t/pushNotificationConfigs/p", pushNotificationConfig: config },
      { kind: "push-config", config: { ...config, taskId: "t" } },
    ],
    [
      "push-get",
      { taskId: "t", pushNotificationConfig: { url: "u", authentication: { schemes: [] } } },
      { kind: "push-config", config: { url: "u", taskId: "t" } },
    ],
    [
      "push-list",
      [{ taskId: "t", pushNotificationConfig: config }],
      { kind: "push-configs", configs: [{ ...config, taskId: "t" }], nextPageToken: "" },
    ],
    [
      "push-list",
      { configs: [{ name: "tasks/t/pushNotificationConfigs/p", pushNotificationConfig: config }] },
      { kind: "push-configs", configs: [{ ...config, taskId: "t" }], nextPageToken: "" },
    ],
    ["push-list", {}, { kind: "push-configs", configs: [], nextPageToken: "" }],
    ["push-delete", null, { kind: "done" }],
    ["push-delete", undefined, { kind: "done" }],
    ["list", { tasks: [bare] }, { kind: "tasks", tasks: [bare], total: 1, pageSize: 1, nextPageToken: "" }],
  ])("the answer to %s from %j", (operation, value, expected) => {
    expect(rpcClient.decodeResult(operation, value)).toEqual(expected);
  });

  it.each([
    ["a bare error", [{ code: -32001, message: "Gone" }, 200], { code: "task-not-found", message: "Gone" }],
    ["an error in a member", [{ error: { code: -32002, message: "No" } }, 200], { code: "task-not-cancelable" }],
    ["a mere text", [{ message: "Gone" }, 404], { code: "task-not-found", message: "Gone" }],
    ["an unknown code beside a status", [{ code: -32000, message: "Who?" }, 401], { code: "unauthenticated" }],
    ["a problem report", [{ title: "Slow down", status: 429 }, 429], { code: "rate-limited", message: "Slow down" }],
    ["nothing at all", [undefined, 503], { code: "unavailable", message: expect.stringContaining("503") }],
    [
      "an error that its reason tells better than its code",
      [
        { code: -32602, message: "E", data: { reason: "EXTENSION_SUPPORT_REQUIRED", requiredExtensions: ["urn:a"] } },
        200,
      ],
      { code: "extension-support-required", metadata: { requiredExtensions: "urn:a" } },
    ],
  ] as const)("%s", (_what, [body, httpStatus], expected) => {
    expect(restClient.decodeError(body, httpStatus)).toMatchObject(expected);
  });

  it("any answer, or throws invalid-agent-response", () => {
    const frames = task.map((made): unknown => JSON.parse(rpc.encodeResult({ kind: "task", task: stored(made) })));
    const operations = ["send", "get", "list", "push-create", "push-list", "extended-card"] as const;
    const readOrBlamed = (decode: () => unknown): boolean => {
      try {
        decode();
        return true;
      } catch (thrown) {
        return thrown instanceof A2AError && thrown.code === "invalid-agent-response";
      }
    };
    fc.assert(
      fc.property(fc.oneof(anything, mutated(frames)), fc.constantFrom(...operations), (value, operation) => {
        expect(rpcClient.decodeError(value, 500)).toBeInstanceOf(A2AError);
        return (
          readOrBlamed(() => rpcClient.decodeEvent(value)) &&
          readOrBlamed(() => restClient.decodeResult(operation, value))
        );
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
  });
});
