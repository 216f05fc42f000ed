import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exchange, type HttpAnswer, jsonOf, typeOf } from "./http.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

let testServer: TestServer;
beforeAll(async () => {
  testServer = await openTestServer();
});
afterAll(() => testServer[Symbol.asyncDispose]());

const JSON_TYPE = "application/json";

interface Request {
  readonly method?: string;
  readonly type?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(path: string, { method, type = JSON_TYPE, body, headers = {} }: Request = {}): Promise<HttpAnswer> {
  return exchange({
    method: method ?? (body === undefined ? "GET" : "POST"),
    url: `${testServer.url}${path}`,
    headers: { ...(body !== undefined && type !== "" && { "content-type": type }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

const rpc = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params });
const MESSAGE_1_0 = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
const MESSAGE_PLAIN = { role: "user", parts: [{ type: "text", text: "hi" }] };
const MESSAGE_0_3 = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] };

/** All REST paths, at the root or below an agent; `{id}` is replaced by a task id. */
const REST_PATHS: ReadonlyArray<readonly [method: string, path: string]> = [
  ["POST", "/message:send"],
  ["GET", "/tasks"],
  ["GET", "/tasks/{id}"],
  ["POST", "/tasks/{id}:cancel"],
  ["GET", "/tasks/{id}/pushNotificationConfigs"],
  ["GET", "/tasks/{id}/pushNotificationConfigs/c"],
  ["GET", "/extendedAgentCard"],
  ["POST", "/v1/message:send"],
  ["GET", "/v1/tasks"],
  ["GET", "/v1/tasks/{id}"],
  ["POST", "/v1/tasks/{id}:cancel"],
  ["GET", "/v1/tasks/{id}/pushNotificationConfigs"],
  ["GET", "/v1/card"],
  ["GET", "/agent/authenticatedExtendedCard"],
  ["POST", "/a2a/tasks/send"],
  ["GET", "/a2a/tasks/{id}"],
];

/**
 * Requests of each version for a task that does not exist: a "not found" error shows that the request was understood.
 */
const METHODS: ReadonlyArray<readonly [method: string, code: number]> = [
  ["GetTask", -32001],
  ["tasks/get", -32001],
  ["tasks/pushNotificationConfig/get", -32001],
  ["tasks/pushNotification/get", -32001],
];

describe("an address", () => {
  it.each(["/", "", "/a2a", "/a2a/", "/api/a2a", "/api/a2a/", "/subscribe", "/subscribe/"])(
    "for JSON-RPC supports every version: %j",
    async (path) => {
      for (const prefix of ["", "/agents/echo"]) {
        for (const [method, code] of METHODS) {
          const answer = await ask(`${prefix}${path}`, { body: rpc(method, { id: "x" }) });
          expect([method, answer.status, JSON.parse(answer.text).error.code]).toEqual([method, 200, code]);
        }
      }
    },
  );

  it.each(REST_PATHS)("for REST works with and without a trailing slash: %s %s", async (method, path) => {
    for (const prefix of ["", "/agents/echo"]) {
      const target = `${prefix}${path.replace("{id}", "nothing")}`;
      const message = path.startsWith("/v1") ? MESSAGE_0_3 : path.startsWith("/a2a") ? MESSAGE_PLAIN : MESSAGE_1_0;
      const request = method === "POST" ? { body: { message: { ...message, taskId: "nothing" } } } : {};
      const [plain, slashed] = [await ask(target, request), await ask(`${target}/`, request)];
      expect([slashed.status, slashed.text]).toEqual([plain.status, plain.text]);
      expect(plain.text).not.toContain("METHOD_NOT");
    }
  });

  it.each(["/tasks/{id}:subscribe", "/v1/tasks/{id}:subscribe"])(
    "for subscriptions accepts GET and POST: %s",
    async (path) => {
      const send = await ask("/agents/echo/v1/message:send", {
        body: { message: MESSAGE_0_3, configuration: { blocking: true } },
      });
      const { id } = JSON.parse(send.text);
      const target = `/agents/echo${path.replace("{id}", id)}`;
      const [got, posted, empty] = [
        await ask(target, { headers: { "last-event-id": "0" } }),
        await ask(target, { method: "POST", headers: { "last-event-id": "0" } }),
        await ask(target, { body: {}, headers: { "last-event-id": "0" } }),
      ];
      expect(got.status).toBe(200);
      expect(typeOf(got)).toBe("text/event-stream");
      expect([posted.text, empty.text]).toEqual([got.text, got.text]);
    },
  );

  it.each(["/tasks/{id}", "/v1/tasks/{id}"])(
    "for a task accepts camelCase and snake_case query parameters: %s",
    async (path) => {
      const message = { ...MESSAGE_1_0, messageId: crypto.randomUUID() };
      const { task } = jsonOf<{ task: { id: string } }>(await ask("/agents/echo/message:send", { body: { message } }));
      for (const query of ["historyLength=1", "history_length=1"]) {
        const got = await ask(`/agents/echo${path.replace("{id}", task.id)}?${query}&unknown=1`);
        expect(jsonOf<{ history: unknown[] }>(got).history).toHaveLength(1);
      }
      expect((await ask(`/agents/echo${path.replace("{id}", task.id)}?historyLength=many`)).status).toBe(400);
    },
  );

  it.each([undefined, "null", "{}", '{"name":"tasks/nothing"}', '{"id":"nothing"}'])(
    "for cancel accepts requests with and without a body: %s",
    async (body) => {
      const answer = await ask("/v1/tasks/nothing:cancel", body === undefined ? { method: "POST" } : { body });
      expect(jsonOf<{ code: number }>(answer).code).toBe(-32001);
    },
  );

  it.each([
    ["POST", "/v1/task/x/pushNotificationConfigs", "as the definition of 0.3 misspells it"],
    ["POST", "/v1/tasks/x/pushNotifications", "as it was before 0.2.5"],
    ["GET", "/v1/tasks/x/pushNotifications", "as it was before 0.2.5"],
  ])("from an earlier version still works: %s %s, %s", async (method, path) => {
    const answer = await ask(path, method === "POST" ? { body: { config: { url: "https://example.org" } } } : {});
    expect(JSON.parse(answer.text).code).toBe(-32001);
  });

  it.each([
    ["ListTaskPushNotificationConfig", { taskId: "x" }, -32001],
    ["agent/authenticatedExtendedCard", {}, -32007],
  ])("for JSON-RPC still supports a method of an earlier version: %s", async (method, params, code) => {
    expect(JSON.parse((await ask("/", { body: rpc(method, params) })).text).error.code).toBe(code);
  });

  it.each([
    ["DELETE", "/message:send", "POST"],
    ["GET", "/message:stream", "POST"],
    ["POST", "/tasks", "GET"],
    ["PUT", "/tasks/x", "GET"],
    ["DELETE", "/tasks/x:cancel", "POST"],
    ["PATCH", "/v1/tasks/x", "GET"],
    ["GET", "/v1/message:send", "POST"],
    ["POST", "/.well-known/agent-card.json", "GET"],
    ["POST", "/.well-known/agent.json", "GET"],
    ["POST", "/agent/authenticatedExtendedCard", "GET"],
    ["GET", "/a2a/tasks/send", "POST"],
    ["DELETE", "/a2a/tasks/x", "GET"],
    ["GET", "/", "POST"],
    ["PUT", "/agents/echo/a2a", "POST"],
  ])("answers other methods with the list of allowed methods: %s %s", async (method, path, allowed) => {
    const answer = await ask(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")?.split(/, */)).toContain(allowed);
    expect(typeOf(answer)).toMatch(/^application\/(a2a\+)?json$/);
    expect(JSON.parse(answer.text)).toBeTypeOf("object");
  });

  it.each([
    "/nowhere",
    "/v1/nowhere",
    "/tasks/x/y/z",
    "/agents/nobody/tasks",
    "/agents",
    "/favicon.ico",
    "/a2a/x",
    "/a2a/tasks",
    "/a2a/tasks/x/y",
    "/agent",
    "//",
  ])("that does not exist gets an error in JSON: %s", async (path) => {
    const answer = await ask(path);
    expect(answer.status).toBe(404);
    expect(typeOf(answer)).toMatch(/^application\/(a2a\+)?json$/);
    expect(JSON.parse(answer.text)).toBeTypeOf("object");
  });
});

describe("a body", () => {
  it.each(["text/plain", "application/xml", "", "multipart/form-data; boundary=x", "application/jsonx"])(
    "is refused unless its media type is JSON: %j",
    async (type) => {
      for (const [path, expected] of [
        ["/", "-32005"],
        ["/message:send", "CONTENT_TYPE_NOT_SUPPORTED"],
        ["/v1/message:send", "-32005"],
        ["/a2a/tasks/send", "unsupported-media-type"],
      ] as const) {
        const answer = await ask(path, { type, body: "{}" });
        expect([path, answer.status]).toEqual([path, 415]);
        expect(answer.text).toContain(expected);
      }
    },
  );

  it.each(["{", "", "[1,", "nonsense", '{"message": }'])(
    "that is not valid JSON is refused with a parse error: %j",
    async (body) => {
      expect(JSON.parse((await ask("/", { body })).text)).toMatchObject({ id: null, error: { code: -32700 } });
      if (body === "") return;
      const newer = await ask("/message:send", { body });
      expect([newer.status, newer.text]).toEqual([400, expect.stringContaining("PARSE_ERROR")]);
      const older = await ask("/v1/message:send", { body });
      expect([older.status, JSON.parse(older.text).code]).toEqual([400, -32700]);
      const plain = await ask("/a2a/tasks/send", { body });
      expect([plain.status, JSON.parse(plain.text).error.code]).toEqual([400, "parse-error"]);
    },
  );

  it.each([
    ["a batch", [rpc("GetTask", { id: "x" })]],
    ["no version", { id: 1, method: "GetTask", params: { id: "x" } }],
    ["another version", { ...rpc("GetTask", { id: "x" }), jsonrpc: "1.0" }],
    ["no method", { jsonrpc: "2.0", id: 1 }],
    ["no id", { jsonrpc: "2.0", method: "GetTask", params: { id: "x" } }],
    ["an id that is an object", { ...rpc("GetTask", { id: "x" }), id: {} }],
    ["no object", 7],
  ])("that is not a JSON-RPC request is refused: %s", async (_name, body) => {
    const answer = await ask("/", { body });
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([200, -32600]);
  });

  it.each(["GetTasks", "message/receive", "tasks/list", "constructor", "__proto__"])(
    "with an unknown method is refused: %s",
    async (method) => {
      const answer = await ask("/", { body: rpc(method) });
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([200, -32601]);
    },
  );

  it("that is too large is refused", async () => {
    await using small = await openTestServer({ limits: { maxBodyBytes: 1000 } });
    for (const path of ["/", "/message:send", "/v1/message:send", "/a2a/tasks/send"]) {
      const answer = await exchange({
        method: "POST",
        url: `${small.url}${path}`,
        headers: { "content-type": JSON_TYPE },
        body: JSON.stringify("x".repeat(2000)),
      });
      expect(answer.status).toBe(413);
      expect(JSON.parse(answer.text)).toBeTypeOf("object");
    }
  });
});

describe("the media type of a REST 1.0 response is", () => {
  it.each<[string, Request, string]>([
    ["application/a2a+json by default", {}, "application/a2a+json"],
    ["the type in Accept", { headers: { accept: JSON_TYPE } }, JSON_TYPE],
    [
      "the type in Accept instead of the type of the request",
      { body: {}, headers: { accept: "application/a2a+json" } },
      "application/a2a+json",
    ],
    ["the type of the request", { body: {} }, JSON_TYPE],
    [
      "the type of the request if Accept is a wildcard",
      { body: {}, type: "application/a2a+json", headers: { accept: "*/*" } },
      "application/a2a+json",
    ],
  ])("%s", async (_name, request, expected) => {
    expect(typeOf(await ask("/tasks/x:cancel", { method: "POST", ...request }))).toBe(expected);
  });

  it("application/json if restMediaType is application/json", async () => {
    await using plain = await openTestServer({ restMediaType: JSON_TYPE });
    const answer = await exchange({ method: "GET", url: `${plain.url}/tasks`, headers: {} });
    expect([answer.status, typeOf(answer)]).toEqual([200, JSON_TYPE]);
  });
});
