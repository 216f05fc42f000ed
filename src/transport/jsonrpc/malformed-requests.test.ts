import { describe, expect, it } from "vitest";
import { describeFaces, type Open, type RpcAnswer, type Site, textMessage } from "../test/faces.ts";
import { LATEST } from "../test/spellings.ts";
import { deep, hugeId, wrongSends } from "../test/wrong-sends.ts";

/** What a request that cannot be served is answered with. `field` is the path of the first violation, where one is named. */
interface Expected {
  readonly code: number;
  readonly id?: unknown;
  readonly status?: number;
  readonly field?: string;
}

const PARSE = { code: -32700, id: null, status: 400 };
const INVALID = { code: -32600 };

/** Bodies that are invalid before their parameters are parsed. */
const ENVELOPES: readonly (readonly [string, string | Uint8Array, Expected])[] = [
  ["an empty body", "", PARSE],
  ["white space", "  \n", PARSE],
  ["a truncated object", '{"jsonrpc":"2.0","id":1', PARSE],
  ["a truncated string", '{"jsonrpc":"2.0","id":1,"method":"GetTa', PARSE],
  ["an unquoted key", '{jsonrpc:"2.0"}', PARSE],
  ["single quotes", "{'jsonrpc':'2.0'}", PARSE],
  ["a trailing comma", '{"jsonrpc":"2.0","id":1,}', PARSE],
  ["two values", '{"jsonrpc":"2.0"} {}', PARSE],
  ["a comment", '{"jsonrpc":"2.0"} // hi', PARSE],
  ["a bare word", "undefined", PARSE],
  ["not a number", "NaN", PARSE],
  ["a leading zero", '{"jsonrpc":"2.0","id":01}', PARSE],
  ["a control character in a string", '{"jsonrpc":"2.0\u0001"}', PARSE],
  ["a form", "jsonrpc=2.0&id=1", PARSE],
  ["invalid UTF-8", new Uint8Array([0x22, 0xff, 0xfe, 0x22]), PARSE],
  ["overlong UTF-8", new Uint8Array([0x22, 0xc0, 0xaf, 0x22]), PARSE],
  ["a surrogate in UTF-8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), PARSE],
  ["UTF-16", Uint8Array.from(Buffer.from("\uFEFF{}", "utf16le")), PARSE],
  ["ten thousand brackets, left open", "[".repeat(10_000), PARSE],
  ["null", "null", { ...INVALID, id: null, status: 200 }],
  ["a number", "42", { ...INVALID, id: null }],
  ["a string", '"GetTask"', { ...INVALID, id: null }],
  ["true", "true", { ...INVALID, id: null }],
  ["an empty batch", "[]", { ...INVALID, id: null, status: 200 }],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]', { ...INVALID, id: null }],
  ["ten thousand nested arrays", "[".repeat(10_000) + "]".repeat(10_000), { ...INVALID, id: null }],
  ["an empty object", "{}", { ...INVALID, id: null }],
  ["no jsonrpc", '{"id":1,"method":"GetTask"}', { ...INVALID, id: 1, status: 200 }],
  ["jsonrpc 1.0", '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', { ...INVALID, id: 1 }],
  ["jsonrpc as number", '{"jsonrpc":2.0,"id":1,"method":"GetTask"}', { ...INVALID, id: 1 }],
  ["jsonrpc 2", '{"jsonrpc":"2","id":1,"method":"GetTask"}', { ...INVALID, id: 1 }],
  ["jsonrpc null", '{"jsonrpc":null,"id":"a","method":"GetTask"}', { ...INVALID, id: "a" }],
  ["JSONRPC in capitals", '{"JSONRPC":"2.0","id":1,"method":"GetTask"}', { ...INVALID, id: 1 }],
  ["no method", '{"jsonrpc":"2.0","id":"abc"}', { ...INVALID, id: "abc" }],
  ["an empty method", '{"jsonrpc":"2.0","id":7,"method":""}', { ...INVALID, id: 7 }],
  ["a method that is a number", '{"jsonrpc":"2.0","id":7,"method":1}', { ...INVALID, id: 7 }],
  ["a method that is null", '{"jsonrpc":"2.0","id":7,"method":null}', { ...INVALID, id: 7 }],
  ["a method that is an object", '{"jsonrpc":"2.0","id":7,"method":{}}', { ...INVALID, id: 7 }],
  ["a method that is an array", '{"jsonrpc":"2.0","id":7,"method":["GetTask"]}', { ...INVALID, id: 7 }],
  ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"GetTask"}', { ...INVALID, id: null }],
  ["an id that is an array", '{"jsonrpc":"2.0","id":[1],"method":"GetTask"}', { ...INVALID, id: null }],
  ["an id that is true", '{"jsonrpc":"2.0","id":true,"method":"GetTask"}', { ...INVALID, id: null }],
  ["a fractional id", '{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}', { ...INVALID, id: null }],
  [
    "an id too large to echo",
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"GetTask"}',
    { ...INVALID, id: null },
  ],
  ["an infinite id", '{"jsonrpc":"2.0","id":1e999,"method":"GetTask"}', { ...INVALID, id: null }],
  [
    "an id that is too long",
    `{"jsonrpc":"2.0","id":"${"x".repeat(2000)}","method":"GetTask"}`,
    { ...INVALID, id: null },
  ],
  ["a method of no version", '{"jsonrpc":"2.0","id":1,"method":"Nonsense"}', { code: -32601, id: 1, status: 200 }],
  ["a method in the wrong case", '{"jsonrpc":"2.0","id":1,"method":"getTask"}', { code: -32601, id: 1 }],
  ["a method with a space", '{"jsonrpc":"2.0","id":1,"method":"GetTask "}', { code: -32601, id: 1 }],
  ["a member of every object", '{"jsonrpc":"2.0","id":1,"method":"constructor"}', { code: -32601, id: 1 }],
  ["a prototype as method", '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', { code: -32601, id: 1 }],
  ["an unknown method without id", '{"jsonrpc":"2.0","method":"Nonsense"}', { code: -32601, id: null }],
  [
    "wrong params without id",
    '{"jsonrpc":"2.0","method":"GetTask","params":{}}',
    { code: -32602, id: null, field: "id" },
  ],
  ["a valid call without id", '{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}', { ...INVALID, id: null }],
  [
    "params by position",
    '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["x"]}',
    { code: -32602, field: "params" },
  ],
  [
    "params that are a string",
    '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"x"}',
    { code: -32602, field: "params" },
  ],
  [
    "params that are a number",
    '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":1}',
    { code: -32602, field: "params" },
  ],
  [
    "params that are true",
    '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":true}',
    { code: -32602, field: "params" },
  ],
];

/** Parameters that are wrong, by the method they are wrong for; each row is also sent to the streaming twin of a send. */
const PARAMS: Readonly<Record<string, readonly (readonly [unknown, string])[]>> = {
  SendMessage: [
    [undefined, "message"],
    [null, "message"],
    ...wrongSends(LATEST),
    [hugeId(LATEST), "message.messageId"],
    [{ ...textMessage("x"), tenant: 1 }, "tenant"],
    [{ ...textMessage("x"), tenant: "t".repeat(300) }, "tenant"],
  ],
  GetTask: [
    [undefined, "id"],
    [{}, "id"],
    [{ id: null }, "id"],
    [{ id: "" }, "id"],
    [{ id: 1 }, "id"],
    [{ id: ["a"] }, "id"],
    [{ id: { a: 1 } }, "id"],
    [{ id: "x".repeat(257) }, "id"],
    [{ id: "\ud800x" }, "id"],
    [{ id: "x\0" }, "id"],
    [{ taskId: "a" }, "id"],
    [{ id: "a", historyLength: -1 }, "historyLength"],
    [{ id: "a", historyLength: -2147483649 }, "historyLength"],
    [{ id: "a", historyLength: 0.5 }, "historyLength"],
    [{ id: "a", historyLength: "x" }, "historyLength"],
    [{ id: "a", historyLength: {} }, "historyLength"],
    [{ id: "a", tenant: [] }, "tenant"],
  ],
  CancelTask: [
    [{}, "id"],
    [{ id: 1 }, "id"],
    [{ id: "a", metadata: "x" }, "metadata"],
    [{ id: "a", metadata: { a: deep(70) } }, "metadata"],
  ],
  SubscribeToTask: [
    [{}, "id"],
    [{ id: "" }, "id"],
    [{ id: false }, "id"],
  ],
  ListTasks: [
    [{ pageSize: 0 }, "pageSize"],
    [{ pageSize: -1 }, "pageSize"],
    [{ pageSize: 101 }, "pageSize"],
    [{ pageSize: 1.5 }, "pageSize"],
    [{ pageSize: "ten" }, "pageSize"],
    [{ pageSize: "0" }, "pageSize"],
    [{ pageToken: 1 }, "pageToken"],
    [{ pageToken: "garbage" }, "pageToken"],
    [{ pageToken: "AAAA" }, "pageToken"],
    [{ pageToken: Buffer.from("1:").toString("base64url") }, "pageToken"],
    [{ pageToken: Buffer.from(":x").toString("base64url") }, "pageToken"],
    [{ pageToken: Buffer.from("-1:x").toString("base64url") }, "pageToken"],
    [{ pageToken: Buffer.from("1e3:x").toString("base64url") }, "pageToken"],
    [{ pageToken: `${Buffer.from("1:x").toString("base64url")}=` }, "pageToken"],
    [{ pageToken: "x".repeat(5000) }, "pageToken"],
    [{ status: "completed" }, "status"],
    [{ status: "TASK_STATE_CANCELLED" }, "status"],
    [{ status: "task_state_working" }, "status"],
    [{ status: 9 }, "status"],
    [{ status: -1 }, "status"],
    [{ status: 1.5 }, "status"],
    [{ status: {} }, "status"],
    [{ status: true }, "status"],
    [{ contextId: 1 }, "contextId"],
    [{ historyLength: -1 }, "historyLength"],
    [{ includeArtifacts: "yes" }, "includeArtifacts"],
    [{ includeArtifacts: 1 }, "includeArtifacts"],
    [{ statusTimestampAfter: 1 }, "statusTimestampAfter"],
    [{ statusTimestampAfter: "yesterday" }, "statusTimestampAfter"],
    [{ statusTimestampAfter: "2026-01-01" }, "statusTimestampAfter"],
    [{ statusTimestampAfter: "2026-01-01T00:00:00" }, "statusTimestampAfter"],
    [{ statusTimestampAfter: "2026-02-30T00:00:00Z" }, "statusTimestampAfter"],
    [{ statusTimestampAfter: "2026-13-01T00:00:00Z" }, "statusTimestampAfter"],
    [{ statusTimestampAfter: "2026-01-01T25:00:00Z" }, "statusTimestampAfter"],
    [{ statusTimestampAfter: "2026-01-01T00:00:00.1234567890Z" }, "statusTimestampAfter"],
    [{ tenant: {} }, "tenant"],
  ],
  CreateTaskPushNotificationConfig: [
    [{}, "taskId"],
    [{ taskId: "t" }, "url"],
    [{ taskId: "t", url: [] }, "url"],
    [{ taskId: "t", url: "https://x", token: 1 }, "token"],
    [{ taskId: "t", url: "https://x", authentication: "Bearer" }, "authentication"],
    [{ taskId: "t", url: "https://x", authentication: { scheme: 1 } }, "authentication.scheme"],
    [
      { taskId: "t", url: "https://x", authentication: { scheme: "Bearer", credentials: 1 } },
      "authentication.credentials",
    ],
  ],
  GetTaskPushNotificationConfig: [
    [{}, "taskId"],
    [{ taskId: "t" }, "id"],
    [{ taskId: "t", id: 1 }, "id"],
  ],
  DeleteTaskPushNotificationConfig: [[{ id: "c" }, "taskId"]],
  ListTaskPushNotificationConfigs: [[{ taskId: 1 }, "taskId"]],
  GetExtendedAgentCard: [[{ tenant: 1 }, "tenant"]],
};

const ROWS = Object.entries(PARAMS).flatMap(([method, rows]) =>
  rows.map(([params, field]) => ({ method, params, field })),
);

async function answerTo(
  site: Site,
  body: string | Uint8Array<ArrayBuffer>,
  headers = {},
): Promise<[Response, RpcAnswer]> {
  const response = await site.request("/", {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body,
  });
  expect(response.headers.get("content-type")).toBe("application/json");
  return [response, (await response.json()) as RpcAnswer];
}

function check(answer: RpcAnswer, expected: Expected): void {
  expect(Object.keys(answer).toSorted()).toEqual(["error", "id", "jsonrpc"]);
  expect(answer.error?.code).toBe(expected.code);
  expect(Object.keys(answer.error ?? {}).toSorted()).toEqual(["code", "data", "message"]);
  expect(answer.error?.message).not.toBe("");
  expect(answer.error?.data.every((detail) => typeof detail["@type"] === "string")).toBe(true);
  expect(answer.id).toEqual("id" in expected ? expected.id : 1);
  expect(answer.error?.data[1]?.fieldViolations[0].field).toBe(expected.field);
  expect(answer.error?.data[1]?.fieldViolations[0].description).not.toBe("");
}

describe("The corpus of malformed requests", () => {
  it("has at least the expected number of requests", () => {
    expect(ENVELOPES.length + ROWS.length).toBeGreaterThan(150);
  });
});

describeFaces("Malformed requests", (open: Open) => {
  it.each(ENVELOPES)("are refused: %s", async (_name, body, expected) => {
    const site = await open();
    const bytes = typeof body === "string" ? body : Uint8Array.from(body);
    const [response, answer] = await answerTo(site, bytes);
    check(answer, expected);
    expect(response.status).toBe(expected.status ?? 200);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "application/jsonx",
    "json",
  ])("are refused as %s", async (type) => {
    const site = await open();
    const [response, answer] = await answerTo(site, "{}", { "content-type": type });
    expect(response.status).toBe(415);
    check(answer, { code: -32005, id: null });
  });

  it.each(["99.0", "0.4", "2.0", "1", "1.1", "latest", "1.0, 0.3", "v1.0"])(
    "are refused as version %j",
    async (version) => {
      const site = await open();
      const [response, answer] = await answerTo(site, '{"jsonrpc":"2.0","id":5,"method":"GetTask"}', {
        "a2a-version": version,
      });
      expect(response.status).toBe(200);
      check(answer, { code: -32009, id: 5 });
      expect(answer.error?.data[0]).toMatchObject({
        reason: "VERSION_NOT_SUPPORTED",
        metadata: { supportedVersions: expect.stringMatching(/^1\.0,/) },
      });
    },
  );

  it.each(["message/send", "tasks/get", "tasks/nonsense", "a/b"])(
    "are refused as version 1.0 with the method %s of another",
    async (method) => {
      const site = await open();
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: textMessage("x") });
      const [response, answer] = await answerTo(site, body, { "a2a-version": "1.0" });
      expect(response.status).toBe(200);
      check(answer, { code: -32601, id: 1 });
      expect(site.engine.submissions).toHaveLength(0);
    },
  );
});

describeFaces("Malformed parameters", (open: Open) => {
  it("are refused with the path of the wrong field, and start nothing", async () => {
    const site = await open();
    for (const { method, params, field } of ROWS) {
      const methods = method === "SendMessage" ? [method, "SendStreamingMessage"] : [method];
      for (const each of methods) {
        const [response, answer] = await answerTo(
          site,
          JSON.stringify({ jsonrpc: "2.0", id: 9, method: each, params }),
        );
        const context = `${each} ${JSON.stringify(params)?.slice(0, 200)}: ${JSON.stringify(answer)}`;
        expect(response.status, context).toBe(200);
        expect(answer.error?.code, context).toBe(-32602);
        expect(answer.error?.data[1]?.fieldViolations[0].field, context).toBe(field);
        check(answer, { code: -32602, id: 9, field });
      }
    }
    expect(site.engine.submissions).toHaveLength(0);
  });

  it("never crash the server, however deep their nesting", async () => {
    const site = await open();
    const nested = "[".repeat(10_000) + "]".repeat(10_000);
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${nested}}]}}}`;
    check((await answerTo(site, body))[1], { code: -32602, id: 1, field: "message.parts[0].data" });
    const ignored = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","unknown":${nested}}}`;
    check((await answerTo(site, ignored))[1], { code: -32001, id: 1 });
    const range = '{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"x","metadata":{"a":1e999}}}';
    check((await answerTo(site, range))[1], { code: -32602, id: 1, field: "metadata" });
  });
});
