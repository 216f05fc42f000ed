import { describe, expect, it } from "vitest";
import { expectAnswers, latestRest, type Row, send, sketch } from "../test/corpus.ts";
import { describeFaces, textMessage } from "../test/faces.ts";
import { LATEST } from "../test/spellings.ts";
import { NO_JSON, NO_OBJECT, WRONG_TYPES } from "../test/wrong-bodies.ts";
import { deep, hugeId, wrongSends } from "../test/wrong-sends.ts";

const good = textMessage("x");
const bare = new TextEncoder().encode(JSON.stringify(good));
const base64url = (text: string): string => Buffer.from(text).toString("base64url");

const SENDS: readonly Row[] = ["POST /message:send", "POST /message:stream"].flatMap((line) =>
  wrongSends(LATEST).map(([body, field]) => ({
    name: sketch(body),
    line,
    body,
    answer: `400 INVALID_PARAMS ${field}`,
  })),
);

const BODIES: readonly Row[] = [
  ...NO_JSON.map(([name, body]) => ({ name, line: "POST /message:send", body, answer: "400 PARSE_ERROR" })),
  ...NO_OBJECT.map(([name, body]) => ({ name, line: "POST /message:send", body, answer: "400 INVALID_PARAMS body" })),
  ...NO_OBJECT.map(([name, body]) => ({ name, line: "POST /tasks/x:cancel", body, answer: "400 INVALID_PARAMS body" })),
  { name: "no body", line: "POST /message:send", answer: "400 INVALID_PARAMS message" },
  { name: "an empty body", line: "POST /message:send", body: "", answer: "400 INVALID_PARAMS message" },
  { name: "null", line: "POST /message:send", body: "null", answer: "400 INVALID_PARAMS message" },
  {
    name: "the parameters of JSON-RPC",
    line: "POST /message:send",
    body: { params: good },
    answer: "400 INVALID_PARAMS message",
  },
  {
    name: "a call of JSON-RPC",
    line: "POST /message:send",
    body: { jsonrpc: "2.0", id: 1, method: "SendMessage", params: good },
    answer: "400 INVALID_PARAMS message",
  },
  {
    name: "the style of 0.3",
    line: "POST /message:send",
    body: { message: { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "x" }] } },
    answer: "400 INVALID_PARAMS message.role",
  },
  {
    name: "the content of 0.3",
    line: "POST /message:send",
    body: { message: { messageId: "m", role: "ROLE_USER", content: [{ text: "x" }] } },
    answer: "400 INVALID_PARAMS message.parts",
  },
  {
    name: "a tenant that is a number",
    line: "POST /message:send",
    body: { ...good, tenant: 1 },
    answer: "400 INVALID_PARAMS tenant",
  },
  {
    name: "an endless tenant",
    line: "POST /message:send",
    body: { ...good, tenant: "t".repeat(300) },
    answer: "400 INVALID_PARAMS tenant",
  },
  {
    name: "an id of nearly 10 MB",
    line: "POST /message:send",
    body: hugeId(LATEST),
    answer: "400 INVALID_PARAMS message.messageId",
  },
  {
    name: "a body of 10 MB and more",
    line: "POST /message:send",
    body: `"${"x".repeat(10_000_000)}"`,
    answer: "413 PAYLOAD_TOO_LARGE",
  },
  {
    name: "data ten thousand deep",
    line: "POST /message:send",
    body: `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${"[".repeat(10_000)}${"]".repeat(10_000)}}]}}`,
    answer: "400 INVALID_PARAMS message.parts[0].data",
  },
  {
    name: "a number no reader can hold",
    line: "POST /message:send",
    body: '{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":1e999}]}}',
    answer: "400 INVALID_PARAMS message.parts[0].data",
  },
  ...WRONG_TYPES.map((type) => ({
    name: type,
    line: "POST /message:send",
    body: good,
    headers: { "content-type": type },
    answer: "415 CONTENT_TYPE_NOT_SUPPORTED",
  })),
  ...WRONG_TYPES.map((type) => ({
    name: type,
    line: "POST /tasks/x:cancel",
    body: {},
    headers: { "content-type": type },
    answer: "415 CONTENT_TYPE_NOT_SUPPORTED",
  })),
  {
    name: "an empty type",
    line: "POST /message:send",
    body: good,
    headers: { "content-type": "" },
    answer: "415 CONTENT_TYPE_NOT_SUPPORTED",
  },
  {
    name: "metadata that is a string",
    line: "POST /tasks/x:cancel",
    body: { metadata: "x" },
    answer: "400 INVALID_PARAMS metadata",
  },
  {
    name: "metadata that is a list",
    line: "POST /tasks/x:cancel",
    body: { metadata: [] },
    answer: "400 INVALID_PARAMS metadata",
  },
  {
    name: "metadata too deep",
    line: "POST /tasks/x:cancel",
    body: { metadata: { a: deep(70) } },
    answer: "400 INVALID_PARAMS metadata",
  },
  {
    name: "metadata beyond all numbers",
    line: "POST /tasks/x:cancel",
    body: '{"metadata":{"a":-1e999}}',
    answer: "400 INVALID_PARAMS metadata",
  },
  {
    name: "a tenant that is a list",
    line: "POST /tasks/x:cancel",
    body: { tenant: [] },
    answer: "400 INVALID_PARAMS tenant",
  },
  { name: "no body", line: "POST /tasks/x/pushNotificationConfigs", answer: "400 INVALID_PARAMS url" },
  { name: "no URL", line: "POST /tasks/x/pushNotificationConfigs", body: {}, answer: "400 INVALID_PARAMS url" },
  {
    name: "a URL that is a list",
    line: "POST /tasks/x/pushNotificationConfigs",
    body: { url: [] },
    answer: "400 INVALID_PARAMS url",
  },
  {
    name: "a token that is a number",
    line: "POST /tasks/x/pushNotificationConfigs",
    body: { url: "u", token: 1 },
    answer: "400 INVALID_PARAMS token",
  },
  {
    name: "an id that is a number",
    line: "POST /tasks/x/pushNotificationConfigs",
    body: { url: "u", id: 1 },
    answer: "400 INVALID_PARAMS id",
  },
  {
    name: "authentication by name",
    line: "POST /tasks/x/pushNotificationConfigs",
    body: { url: "u", authentication: "Bearer" },
    answer: "400 INVALID_PARAMS authentication",
  },
  {
    name: "authentication without scheme",
    line: "POST /tasks/x/pushNotificationConfigs",
    body: { url: "u", authentication: { credentials: "x" } },
    answer: "400 INVALID_PARAMS authentication.scheme",
  },
];

const QUERIES: readonly Row[] = (
  [
    ["/tasks?pageSize=0", "pageSize"],
    ["/tasks?pageSize=-1", "pageSize"],
    ["/tasks?pageSize=101", "pageSize"],
    ["/tasks?pageSize=1e9", "pageSize"],
    ["/tasks?pageSize=1.5", "pageSize"],
    ["/tasks?pageSize=abc", "pageSize"],
    ["/tasks?pageSize=0x10", "pageSize"],
    ["/tasks?pageSize=+5", "pageSize"],
    ["/tasks?pageSize=99999999999999999999", "pageSize"],
    ["/tasks?pageSize=NaN", "pageSize"],
    ["/tasks?pageSize=1&pageSize=2", "pageSize"],
    ["/tasks?pageSize=1&page_size=2", "pageSize"],
    ["/tasks?page_size=0", "pageSize"],
    ["/tasks?pageSize=%31%zz", "pageSize"],
    ["/tasks?pageSize=[1]", "pageSize"],
    ["/tasks?pageToken=garbage", "pageToken"],
    ["/tasks?pageToken=AAAA", "pageToken"],
    ["/tasks?pageToken=%00", "pageToken"],
    [`/tasks?pageToken=${base64url("1:")}`, "pageToken"],
    [`/tasks?pageToken=${base64url(":x")}`, "pageToken"],
    [`/tasks?pageToken=${base64url("-1:x")}`, "pageToken"],
    [`/tasks?pageToken=${base64url("1e3:x")}`, "pageToken"],
    [`/tasks?pageToken=${base64url("1:x")}%3D`, "pageToken"],
    [`/tasks?pageToken=${"x".repeat(5000)}`, "pageToken"],
    ["/tasks?pageToken=a&pageToken=b", "pageToken"],
    ["/tasks?status=nope", "status"],
    ["/tasks?status=completed", "status"],
    ["/tasks?status=TASK_STATE_CANCELLED", "status"],
    ["/tasks?status=task_state_working", "status"],
    ["/tasks?status=9", "status"],
    ["/tasks?status=-1", "status"],
    ["/tasks?status=1.5", "status"],
    ["/tasks?status=TASK_STATE_WORKING&status=TASK_STATE_FAILED", "status"],
    ["/tasks?status=TASK_STATE_WORKING,TASK_STATE_FAILED", "status"],
    ["/tasks?status=__proto__", "status"],
    ["/tasks?status=constructor", "status"],
    ["/tasks?contextId=a&contextId=b", "contextId"],
    [`/tasks?contextId=${"c".repeat(257)}`, "contextId"],
    ["/tasks?contextId=%zz", "contextId"],
    ["/tasks?contextId=%ff", "contextId"],
    ["/tasks?contextId=%ED%A0%80", "contextId"],
    ["/tasks?historyLength=-1", "historyLength"],
    ["/tasks?historyLength=2147483648", "historyLength"],
    ["/tasks?historyLength=many", "historyLength"],
    ["/tasks?includeArtifacts=yes", "includeArtifacts"],
    ["/tasks?includeArtifacts=1", "includeArtifacts"],
    ["/tasks?includeArtifacts=TRUE", "includeArtifacts"],
    ["/tasks?statusTimestampAfter=yesterday", "statusTimestampAfter"],
    ["/tasks?statusTimestampAfter=1700000000", "statusTimestampAfter"],
    ["/tasks?statusTimestampAfter=2026-01-01", "statusTimestampAfter"],
    ["/tasks?statusTimestampAfter=2026-02-30T00:00:00Z", "statusTimestampAfter"],
    ["/tasks?statusTimestampAfter=2026-13-01T00:00:00Z", "statusTimestampAfter"],
    ["/tasks?statusTimestampAfter=2026-01-01T00:00:00+01:00", "statusTimestampAfter"],
    [`/tasks?tenant=${"t".repeat(300)}`, "tenant"],
    ["/tasks?tenant=a&tenant=b", "tenant"],
    ["/tasks?%zz=1", "query"],
    ["/tasks?pageSize=1&&&=%", "query"],
    ["/tasks/x?historyLength=-1", "historyLength"],
    ["/tasks/x?historyLength=-2147483649", "historyLength"],
    ["/tasks/x?historyLength=0.5", "historyLength"],
    ["/tasks/x?historyLength=x", "historyLength"],
    ["/tasks/x?history_length=x", "historyLength"],
    ["/tasks/x?historyLength=1&historyLength=1", "historyLength"],
    ["/tasks/x?historyLength={}", "historyLength"],
    ["/acme/tasks/x?historyLength=x", "historyLength"],
    ["/extendedAgentCard?tenant=a&tenant=b", "tenant"],
  ] as const
).map(([path, field]) => ({
  name: field,
  line: `GET ${path}`,
  answer: `400 INVALID_PARAMS ${field}`,
}));

const LONG_ID = "x".repeat(257);

const PATHS: readonly Row[] = (
  [
    ["GET /tasks/%", "400 INVALID_PARAMS id"],
    ["GET /tasks/%zz", "400 INVALID_PARAMS id"],
    ["GET /tasks/%E2%82", "400 INVALID_PARAMS id"],
    ["GET /tasks/%ff", "400 INVALID_PARAMS id"],
    ["GET /tasks/%C0%AF", "400 INVALID_PARAMS id"],
    ["GET /tasks/%ED%A0%80", "400 INVALID_PARAMS id"],
    [`GET /tasks/${LONG_ID}`, "400 INVALID_PARAMS id"],
    [`GET /tasks/${"%C3%A4".repeat(257)}`, "400 INVALID_PARAMS id"],
    ["POST /tasks/%zz:cancel", "400 INVALID_PARAMS id"],
    [`POST /tasks/${LONG_ID}:cancel`, "400 INVALID_PARAMS id"],
    ["GET /tasks/%zz:subscribe", "400 INVALID_PARAMS id"],
    [`POST /tasks/${LONG_ID}:subscribe`, "400 INVALID_PARAMS id"],
    ["GET /tasks/%zz/pushNotificationConfigs", "400 INVALID_PARAMS id"],
    [`GET /tasks/${LONG_ID}/pushNotificationConfigs`, "400 INVALID_PARAMS taskId"],
    ["GET /tasks/x/pushNotificationConfigs/%zz", "400 INVALID_PARAMS configId"],
    [`DELETE /tasks/x/pushNotificationConfigs/${LONG_ID}`, "400 INVALID_PARAMS id"],
    ["GET /%zz/tasks", "400 INVALID_PARAMS tenant"],
    [`GET /${LONG_ID}/tasks`, "400 INVALID_PARAMS tenant"],
    ["GET /tasks/nope", "404 TASK_NOT_FOUND"],
    ["GET /tasks/nope/", "404 TASK_NOT_FOUND"],
    ["GET /tasks/%00", "400 INVALID_PARAMS id"],
    ["GET /tasks/a%2Fb", "404 TASK_NOT_FOUND"],
    ["GET /tasks/__proto__", "404 TASK_NOT_FOUND"],
    ["GET /tasks/:other", "404 TASK_NOT_FOUND"],
    ["GET /tasks/x:send", "404 TASK_NOT_FOUND"],
    ["GET /tasks/x%3Acancel", "404 TASK_NOT_FOUND"],
    ["POST /tasks/nope:cancel", "404 TASK_NOT_FOUND"],
    ["GET /tasks/nope:subscribe", "404 TASK_NOT_FOUND"],
    ["POST /acme/tasks/nope:subscribe", "404 TASK_NOT_FOUND"],
    ["GET /tasks/x/pushNotificationConfigs", "400 PUSH_NOTIFICATION_NOT_SUPPORTED"],
    ["GET /tasks/x/pushNotificationConfigs/c", "400 PUSH_NOTIFICATION_NOT_SUPPORTED"],
    ["DELETE /tasks/x/pushNotificationConfigs/c", "400 PUSH_NOTIFICATION_NOT_SUPPORTED"],
    ["GET /extendedAgentCard", "400 UNSUPPORTED_OPERATION"],
    ["GET /nowhere", "404 METHOD_NOT_FOUND"],
    ["POST /nowhere", "404 METHOD_NOT_FOUND"],
    ["GET /Tasks", "404 METHOD_NOT_FOUND"],
    ["POST /message", "404 METHOD_NOT_FOUND"],
    ["POST /message:", "404 METHOD_NOT_FOUND"],
    ["POST /message:SEND", "404 METHOD_NOT_FOUND"],
    ["POST /message/send", "404 METHOD_NOT_FOUND"],
    ["POST /message%3Asend", "404 METHOD_NOT_FOUND"],
    ["POST /tasks/:cancel", "404 METHOD_NOT_FOUND"],
    ["GET /tasks/:subscribe", "404 METHOD_NOT_FOUND"],
    ["GET /tasks//", "404 METHOD_NOT_FOUND"],
    ["GET /tasks//pushNotificationConfigs", "404 METHOD_NOT_FOUND"],
    ["GET /tasks/x/other", "404 METHOD_NOT_FOUND"],
    ["GET /tasks/x/pushNotificationConfigs/c/d", "404 METHOD_NOT_FOUND"],
    ["POST /tasks/x:cancel/now", "404 METHOD_NOT_FOUND"],
    ["GET //", "404 METHOD_NOT_FOUND"],
    ["GET //tasks", "404 METHOD_NOT_FOUND"],
    ["GET ///tasks", "404 METHOD_NOT_FOUND"],
    ["GET /a/b/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /api/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /.well-known/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /agents/nobody/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /agents/__proto__/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /agents//tasks", "404 METHOD_NOT_FOUND"],
    ["GET /console", "404 METHOD_NOT_FOUND"],
    [`GET ${"/x".repeat(1000)}`, "404 METHOD_NOT_FOUND"],
    [`GET ${"/".repeat(5000)}`, "404 METHOD_NOT_FOUND"],
    [`GET /${"x".repeat(10_000)}`, "404 METHOD_NOT_FOUND"],
    ["GET /message:send", "405 METHOD_NOT_ALLOWED"],
    ["PUT /message:send", "405 METHOD_NOT_ALLOWED"],
    ["DELETE /message:stream", "405 METHOD_NOT_ALLOWED"],
    ["POST /tasks", "405 METHOD_NOT_ALLOWED"],
    ["POST /tasks/x", "405 METHOD_NOT_ALLOWED"],
    ["DELETE /tasks/x", "405 METHOD_NOT_ALLOWED"],
    ["PATCH /tasks/x", "405 METHOD_NOT_ALLOWED"],
    ["GET /tasks/x:cancel", "405 METHOD_NOT_ALLOWED"],
    ["DELETE /tasks/x:subscribe", "405 METHOD_NOT_ALLOWED"],
    ["PUT /tasks/x/pushNotificationConfigs", "405 METHOD_NOT_ALLOWED"],
    ["POST /tasks/x/pushNotificationConfigs/c", "405 METHOD_NOT_ALLOWED"],
    ["POST /extendedAgentCard", "405 METHOD_NOT_ALLOWED"],
    ["POST /acme/extendedAgentCard", "405 METHOD_NOT_ALLOWED"],
    ["PROPFIND /tasks", "405 METHOD_NOT_ALLOWED"],
  ] as const
).map(([line, answer]) => ({ name: "as such", line, answer }));

const HEADERS: readonly Row[] = [
  ...["99.0", "2.0", "1", "1.1", "0.4", "latest", "1.0, 0.3", "v1.0", "1.0.x", "-1.0"].map((version) => ({
    name: `version ${version}`,
    line: "POST /message:send",
    body: good,
    headers: { "a2a-version": version },
    answer: "400 VERSION_NOT_SUPPORTED",
  })),
  ...["-1", "1.5", "abc", "01", "9999999999999999", "1 2"].map((cursor) => ({
    name: `cursor ${cursor}`,
    line: "POST /message:stream",
    body: good,
    headers: { "last-event-id": cursor },
    answer: "400 INVALID_PARAMS Last-Event-ID",
  })),
];

describe("The corpus of malformed requests of REST 1.0", () => {
  it("has at least the expected number of requests", () => {
    expect(
      new Set([...SENDS, ...BODIES, ...QUERIES, ...PATHS, ...HEADERS].map((row) => JSON.stringify(row))).size,
    ).toBeGreaterThan(450);
    expect(wrongSends(LATEST).length + BODIES.length + QUERIES.length).toBeGreaterThan(200);
  });
});

describeFaces("Malformed requests of REST 1.0", (open, face) => {
  it.each([
    ["wrong messages and configurations", SENDS],
    ["wrong bodies", BODIES],
    ["wrong queries", QUERIES],
    ["wrong paths and verbs", PATHS],
    ["wrong headers", HEADERS],
  ])(
    "get the answer the table gives them, and nothing runs: %s",
    async (_name, rows) => {
      await expectAnswers(await open(), rows, latestRest);
    },
    30_000,
  );

  it("without a content type are refused", async () => {
    const site = await open();
    const response = await site.request("/message:send", { method: "POST", body: bare });
    expect(await latestRest(response)).toBe("415 CONTENT_TYPE_NOT_SUPPORTED");
    expect(site.engine.submissions).toHaveLength(0);
  });

  it("with the longest ids that the host accepts in the path are refused", async () => {
    const length = face === "fetch" ? 10_000_000 : 10_000;
    const id = "x".repeat(length);
    await expectAnswers(
      await open(),
      [
        { name: "in the path", line: `GET /tasks/${id}`, answer: "400 INVALID_PARAMS id" },
        { name: "as tenant", line: `GET /${id}/tasks`, answer: "400 INVALID_PARAMS tenant" },
        { name: "in the query", line: `GET /tasks?contextId=${id}`, answer: "400 INVALID_PARAMS contextId" },
        { name: "as a path", line: `GET /${id}`, answer: "404 METHOD_NOT_FOUND" },
        { name: "of slashes", line: `GET ${"/".repeat(length)}`, answer: "404 METHOD_NOT_FOUND" },
      ],
      latestRest,
    );
  });
});

const nested = "[".repeat(10_000) + "]".repeat(10_000);
const raw = (members: string): string =>
  `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}${members}}`;

describeFaces("What REST 1.0 tolerates", (open) => {
  it.each([
    [
      "duplicate keys, of which the last counts",
      '{"message":1,"message":{"messageId":"no","messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}',
    ],
    ["__proto__ as plain data", raw(',"__proto__":{"polluted":true},"metadata":{"__proto__":{"polluted":true}}')],
    ["numbers as strings", raw(',"configuration":{"historyLength":"3"}')],
    ["enums as numbers", '{"message":{"messageId":"m","role":1,"parts":[{"text":"x"}]}}'],
    [
      "snake_case",
      '{"message":{"message_id":"m","role":"ROLE_USER","parts":[{"text":"x","media_type":"text/plain"}]},"configuration":{"history_length":1,"return_immediately":false}}',
    ],
    ["null for absent members", raw(',"configuration":null,"metadata":null,"tenant":null')],
    ["a byte order mark", `\uFEFF${raw("")}`],
    ["white space", ` \n\t${raw("")}\r\n `],
    ["unknown members, however deep", raw(`,"unknown":${nested}`)],
    ["escapes", '{"message":{"messageId":"\\u006d","role":"ROLE_USER","parts":[{"text":"\\u0078"}]}}'],
    [
      "members of 0.3 beside those of 1.0",
      '{"message":{"kind":"message","messageId":"m","role":"ROLE_USER","parts":[{"kind":"text","text":"x"}]}}',
    ],
  ])("has no further effect: %s", async (_name, body) => {
    const site = await open();
    const response = await send(site, { line: "POST /message:send", body });
    expect(response.status).toBe(200);
    expect(site.engine.submissions).toHaveLength(1);
    expect(site.engine.submissions[0]?.request.message).toMatchObject({
      messageId: "m",
      role: "user",
      parts: [{ text: "x" }],
    });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([
    "/tasks?",
    "/tasks??",
    "/tasks?&&&",
    "/tasks?=&a==b&?",
    "/tasks/?pageSize=1",
    "/tasks?pageSize=",
    "/tasks?page_size=5",
    "/tasks?status=2",
    "/tasks?status=TASK_STATE_UNSPECIFIED",
    "/tasks?historyLength=0",
    "/tasks?includeArtifacts=true",
    "/tasks?contextId=a%20b%01",
    "/tasks?unknown=1&unknown=2&__proto__=3",
    "/tasks?pageSize=%31",
    "/acme/tasks?tenant=other",
    `/tasks?${"a=b&".repeat(1000)}`,
  ])("is an empty list: %s", async (path) => {
    const site = await open();
    const response = await site.request(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ tasks: [], totalSize: 0 });
  });
});
