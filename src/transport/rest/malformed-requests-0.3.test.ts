import { describe, expect, it } from "vitest";
import { earlierRest, expectAnswers, latestRest, type Row, send, sketch } from "../test/corpus.ts";
import { describeFaces } from "../test/faces.ts";
import { KINDS, PROTO, type Spelling } from "../test/spellings.ts";
import { NO_JSON, NO_OBJECT, WRONG_TYPES } from "../test/wrong-bodies.ts";
import { deep, hugeId, wrongSends } from "../test/wrong-sends.ts";

const SEND = "POST /v1/message:send";
const CONFIGS = "POST /v1/tasks/x/pushNotificationConfigs";

function goodMessage({ base, parts, text }: Spelling): Readonly<Record<string, unknown>> {
  return { message: { ...base, [parts]: [text("x")] } };
}

function sendsOf(spelling: Spelling): readonly Row[] {
  return [SEND, "POST /v1/message:stream"].flatMap((line) =>
    wrongSends(spelling).map(([body, field]) => ({
      name: sketch(body),
      line,
      body,
      answer: `400 INVALID_PARAMS ${field}`,
    })),
  );
}

const kinds = { ...KINDS.base, parts: [{ kind: "text", text: "x" }] };
const proto = { ...PROTO.base, content: [{ text: "x" }] };

/** What only the style that names kinds can get wrong. */
const KIND_SENDS: readonly Row[] = (
  [
    [{ message: { ...kinds, kind: "task" } }, "message.kind"],
    [{ message: { ...kinds, kind: 1 } }, "message.kind"],
    [{ message: { ...kinds, kind: "" } }, "message.kind"],
    [{ message: { ...kinds, parts: [{ kind: "video", text: "x" }] } }, "message.parts[0].kind"],
    [{ message: { ...kinds, parts: [{ kind: 1, text: "x" }] } }, "message.parts[0].kind"],
    [{ message: { ...kinds, parts: [{ type: "video", text: "x" }] } }, "message.parts[0].type"],
    [{ message: { ...kinds, parts: [{ kind: "text" }] } }, "message.parts[0].text"],
    [{ message: { ...kinds, parts: [{ kind: "data" }] } }, "message.parts[0].data"],
    [{ message: { ...kinds, parts: [{ kind: "file" }] } }, "message.parts[0].file"],
    [{ message: { ...kinds, parts: [{ kind: "file", file: "x" }] } }, "message.parts[0].file"],
    [{ message: { ...kinds, parts: [{ kind: "file", file: {} }] } }, "message.parts[0].file"],
    [{ message: { ...kinds, parts: [{ kind: "file", file: { bytes: "", uri: "u" } }] } }, "message.parts[0].file"],
    [{ message: { ...kinds, parts: [{ kind: "file", text: "x" }] } }, "message.parts[0]"],
    [{ message: kinds, configuration: { historyLength: "3" } }, "configuration.historyLength"],
    [{ message: kinds, configuration: { historyLength: "" } }, "configuration.historyLength"],
  ] as const
).map(([body, field]) => ({ name: sketch(body), line: SEND, body, answer: `400 INVALID_PARAMS ${field}` }));

/** What only the style of the definition can get wrong. */
const PROTO_SENDS: readonly Row[] = (
  [
    [{ request: "x" }, "message"],
    [{ request: { role: "ROLE_USER" } }, "message.messageId"],
    [{ message: { ...proto, content: [{ file: "x" }] } }, "message.content[0].file"],
    [{ message: { ...proto, content: [{ file: {} }] } }, "message.content[0].file"],
    [
      { message: { ...proto, content: [{ file: { fileWithBytes: "aGk=", fileWithUri: "u" } }] } },
      "message.content[0].file",
    ],
    [{ message: { ...proto, content: [{ file: { file_with_bytes: "?" } }] } }, "message.content[0].file.fileWithBytes"],
    [{ message: { ...proto, content: [{ data: "x" }] } }, "message.content[0].data"],
    [{ message: { ...proto, content: [{ data: {} }] } }, "message.content[0].data.data"],
    [{ message: { ...proto, content: [{ data: { data: null } }] } }, "message.content[0].data.data"],
    [{ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] } }, "message.content"],
    [{ message: { ...proto, message_id: undefined, messageId: undefined } }, "message.messageId"],
    [{ message: proto, configuration: { history_length: -1 } }, "configuration.historyLength"],
    [{ message: proto, configuration: { accepted_output_modes: [1] } }, "configuration.acceptedOutputModes[0]"],
    [{ message: proto, configuration: { push_notification: {} } }, "configuration.pushNotification.url"],
  ] as const
).map(([body, field]) => ({ name: sketch(body), line: SEND, body, answer: `400 INVALID_PARAMS ${field}` }));

const nestedData = (spelling: Spelling): string =>
  JSON.stringify({ message: { ...spelling.base, [spelling.parts]: [spelling.data("HERE")] } }).replace(
    '"HERE"',
    "[".repeat(10_000) + "]".repeat(10_000),
  );

function bodiesOf(spelling: Spelling): readonly Row[] {
  const good = goodMessage(spelling);
  const data = `message.${spelling.parts}[0].${spelling.at.data}`;
  return [
    {
      name: "an id of nearly 10 MB",
      line: SEND,
      body: hugeId(spelling),
      answer: "400 INVALID_PARAMS message.messageId",
    },
    { name: "data ten thousand deep", line: SEND, body: nestedData(spelling), answer: `400 INVALID_PARAMS ${data}` },
    ...WRONG_TYPES.map((type) => ({
      name: type,
      line: SEND,
      body: good,
      headers: { "content-type": type },
      answer: "415 CONTENT_TYPE_NOT_SUPPORTED",
    })),
    ...["-1", "1.5", "abc", "01", "9999999999999999"].map((cursor) => ({
      name: `cursor ${cursor}`,
      line: "POST /v1/message:stream",
      body: good,
      headers: { "last-event-id": cursor },
      answer: "400 INVALID_PARAMS Last-Event-ID",
    })),
  ];
}

const BODIES: readonly Row[] = [
  ...NO_JSON.map(([name, body]) => ({ name, line: SEND, body, answer: "400 PARSE_ERROR" })),
  ...NO_OBJECT.map(([name, body]) => ({ name, line: SEND, body, answer: "400 INVALID_PARAMS body" })),
  ...NO_OBJECT.map(([name, body]) => ({
    name,
    line: "POST /v1/tasks/x:cancel",
    body,
    answer: "400 INVALID_PARAMS body",
  })),
  { name: "no body", line: SEND, answer: "400 INVALID_PARAMS message" },
  { name: "an empty body", line: SEND, body: "", answer: "400 INVALID_PARAMS message" },
  { name: "null", line: SEND, body: "null", answer: "400 INVALID_PARAMS message" },
  {
    name: "a call of JSON-RPC",
    line: SEND,
    body: { jsonrpc: "2.0", id: 1, method: "message/send", params: { message: kinds } },
    answer: "400 INVALID_PARAMS message",
  },
  {
    name: "a body of 10 MB and more",
    line: SEND,
    body: `"${"x".repeat(10_000_000)}"`,
    answer: "413 PAYLOAD_TOO_LARGE",
  },
  {
    name: "metadata that is a string",
    line: "POST /v1/tasks/x:cancel",
    body: { metadata: "x" },
    answer: "400 INVALID_PARAMS metadata",
  },
  {
    name: "metadata too deep",
    line: "POST /v1/tasks/x:cancel",
    body: { metadata: { a: deep(70) } },
    answer: "400 INVALID_PARAMS metadata",
  },
  {
    name: "a wrong type",
    line: "POST /v1/tasks/x:cancel",
    body: {},
    headers: { "content-type": "text/plain" },
    answer: "415 CONTENT_TYPE_NOT_SUPPORTED",
  },
  { name: "no body", line: CONFIGS, answer: "400 INVALID_PARAMS url" },
  { name: "a list", line: CONFIGS, body: [], answer: "400 INVALID_PARAMS body" },
  { name: "no URL", line: CONFIGS, body: {}, answer: "400 INVALID_PARAMS url" },
  {
    name: "no URL at the path of the definition",
    line: "POST /v1/task/x/pushNotificationConfigs",
    body: {},
    answer: "400 INVALID_PARAMS url",
  },
  {
    name: "no URL at the path of earlier versions",
    line: "POST /v1/tasks/x/pushNotifications",
    body: {},
    answer: "400 INVALID_PARAMS url",
  },
  { name: "an empty configuration", line: CONFIGS, body: { config: {} }, answer: "400 INVALID_PARAMS config.url" },
  {
    name: "a configuration that is a string",
    line: CONFIGS,
    body: { config: "x" },
    answer: "400 INVALID_PARAMS config",
  },
  {
    name: "a nested one that is a string",
    line: CONFIGS,
    body: { pushNotificationConfig: "x" },
    answer: "400 INVALID_PARAMS pushNotificationConfig",
  },
  {
    name: "a nested one without URL",
    line: CONFIGS,
    body: { config: { pushNotificationConfig: {} } },
    answer: "400 INVALID_PARAMS config.pushNotificationConfig.url",
  },
  { name: "a token that is a number", line: CONFIGS, body: { url: "u", token: 1 }, answer: "400 INVALID_PARAMS token" },
  {
    name: "no schemes",
    line: CONFIGS,
    body: { url: "u", authentication: { credentials: "x" } },
    answer: "400 INVALID_PARAMS authentication.schemes",
  },
  {
    name: "a scheme that is a number",
    line: CONFIGS,
    body: { url: "u", authentication: { schemes: [1] } },
    answer: "400 INVALID_PARAMS authentication.schemes[0]",
  },
  {
    name: "an id that is a number",
    line: CONFIGS,
    body: { config: { url: "u" }, configId: 1 },
    answer: "400 INVALID_PARAMS configId",
  },
  {
    name: "a name that is a number",
    line: CONFIGS,
    body: { name: 1, pushNotificationConfig: { url: "u" } },
    answer: "400 INVALID_PARAMS name",
  },
];

const LONG_ID = "x".repeat(257);

const PATHS: readonly Row[] = (
  [
    ["GET /v1/tasks/x?historyLength=-1", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?historyLength=abc", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?historyLength=1e9", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?historyLength=1.5", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?historyLength=2147483648", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?history_length=-1", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?history_length=many", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?historyLength=%zz", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks/x?%zz", "400 INVALID_PARAMS query"],
    ["GET /v1/tasks?historyLength=x", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks?historyLength=-1", "400 INVALID_PARAMS historyLength"],
    ["GET /v1/tasks?a=%E2%82", "400 INVALID_PARAMS a"],
    ["GET /v1/tasks/%", "400 INVALID_PARAMS id"],
    ["GET /v1/tasks/%zz", "400 INVALID_PARAMS id"],
    ["GET /v1/tasks/%ff", "400 INVALID_PARAMS id"],
    ["GET /v1/tasks/%ED%A0%80", "400 INVALID_PARAMS id"],
    [`GET /v1/tasks/${LONG_ID}`, "400 INVALID_PARAMS id"],
    ["POST /v1/tasks/%zz:cancel", "400 INVALID_PARAMS id"],
    [`POST /v1/tasks/${LONG_ID}:cancel`, "400 INVALID_PARAMS id"],
    ["GET /v1/tasks/%zz:subscribe", "400 INVALID_PARAMS id"],
    [`POST /v1/tasks/${LONG_ID}:subscribe`, "400 INVALID_PARAMS id"],
    [`GET /v1/tasks/${LONG_ID}/pushNotificationConfigs`, "400 INVALID_PARAMS id"],
    ["GET /v1/tasks/x/pushNotificationConfigs/%zz", "400 INVALID_PARAMS configId"],
    [`DELETE /v1/tasks/x/pushNotificationConfigs/${LONG_ID}`, "400 INVALID_PARAMS pushNotificationConfigId"],
    ["GET /v1/tasks/nope", "404 TASK_NOT_FOUND"],
    ["GET /v1/tasks/%00", "400 INVALID_PARAMS id"],
    ["GET /v1/tasks/a%2Fb", "404 TASK_NOT_FOUND"],
    ["GET /v1/tasks/__proto__", "404 TASK_NOT_FOUND"],
    ["GET /v1/tasks/:other", "404 TASK_NOT_FOUND"],
    ["POST /v1/tasks/nope:cancel", "404 TASK_NOT_FOUND"],
    ["GET /v1/tasks/nope:subscribe", "404 TASK_NOT_FOUND"],
    ["GET /v1/tasks/x/pushNotificationConfigs", "400 PUSH_NOTIFICATION_NOT_SUPPORTED"],
    ["GET /v1/tasks/x/pushNotificationConfigs/c", "400 PUSH_NOTIFICATION_NOT_SUPPORTED"],
    ["DELETE /v1/tasks/x/pushNotificationConfigs/c", "400 PUSH_NOTIFICATION_NOT_SUPPORTED"],
    ["GET /v1/card", "404 EXTENDED_AGENT_CARD_NOT_CONFIGURED"],
    ["GET /v1", "404 METHOD_NOT_FOUND"],
    ["GET /v1/", "404 METHOD_NOT_FOUND"],
    ["GET /v1/nowhere", "404 METHOD_NOT_FOUND"],
    ["POST /v1/message", "404 METHOD_NOT_FOUND"],
    ["POST /v1/message/send", "404 METHOD_NOT_FOUND"],
    ["POST /v1/message:SEND", "404 METHOD_NOT_FOUND"],
    ["POST /v1/tasks/:cancel", "404 METHOD_NOT_FOUND"],
    ["GET /v1/tasks//", "404 METHOD_NOT_FOUND"],
    ["GET /v1/tasks/x/other", "404 METHOD_NOT_FOUND"],
    ["GET /v1//tasks", "404 METHOD_NOT_FOUND"],
    ["GET /v1/v1/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /v1/acme/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /v1/extendedAgentCard", "404 METHOD_NOT_FOUND"],
    [`GET /v1${"/x".repeat(1000)}`, "404 METHOD_NOT_FOUND"],
    ["GET /agents/nobody/v1/tasks", "404 METHOD_NOT_FOUND"],
    ["GET /v1/message:send", "405 METHOD_NOT_ALLOWED"],
    ["PUT /v1/message:stream", "405 METHOD_NOT_ALLOWED"],
    ["POST /v1/tasks", "405 METHOD_NOT_ALLOWED"],
    ["DELETE /v1/tasks/x", "405 METHOD_NOT_ALLOWED"],
    ["GET /v1/tasks/x:cancel", "405 METHOD_NOT_ALLOWED"],
    ["PATCH /v1/tasks/x:subscribe", "405 METHOD_NOT_ALLOWED"],
    ["GET /v1/task/x/pushNotificationConfigs", "405 METHOD_NOT_ALLOWED"],
    ["POST /v1/card", "405 METHOD_NOT_ALLOWED"],
  ] as const
).map(([line, answer]) => ({ name: "as such", line, answer }));

describe("The corpus of malformed requests of REST 0.3", () => {
  it.each([
    ["naming kinds", KINDS, KIND_SENDS],
    ["of the definition", PROTO, PROTO_SENDS],
  ])("has at least the expected number of requests for the style %s", (_name, spelling, own) => {
    expect(wrongSends(spelling).length + own.length + bodiesOf(spelling).length).toBeGreaterThan(150);
  });
});

describeFaces("Malformed requests of REST 0.3", (open) => {
  it.each([
    ["wrong sends that name kinds", [...sendsOf(KINDS), ...KIND_SENDS]],
    ["wrong sends of the definition", [...sendsOf(PROTO), ...PROTO_SENDS]],
    ["wrong bodies that name kinds", bodiesOf(KINDS)],
    ["wrong bodies of the definition", bodiesOf(PROTO)],
    ["wrong bodies of neither", BODIES],
    ["wrong paths, queries and verbs", PATHS],
  ])(
    "get the answer the table gives them, and nothing runs: %s",
    async (_name, rows) => {
      await expectAnswers(await open(), rows, earlierRest);
      // The style of a body is detected, whatever the default is.
      const sends = rows.filter(({ line }) => line === SEND);
      await expectAnswers(await open({ dialects: { restStyle: "json" } }), sends, earlierRest);
    },
    30_000,
  );

  it.each(["99.0", "2.0", "1", "0.4", "latest", "0.3, 1.0", "v0.3"])("are refused as version %j", async (version) => {
    const answer = "400 VERSION_NOT_SUPPORTED";
    const headers = { "a2a-version": version };
    const rows = [KINDS, PROTO].map((spelling) => ({
      name: version,
      line: SEND,
      body: goodMessage(spelling),
      headers,
      answer,
    }));
    // An unsupported version is reported in the format of the newest one.
    await expectAnswers(await open(), rows, latestRest);
  });
});

const nested = "[".repeat(10_000) + "]".repeat(10_000);
const rawKinds = (members: string): string =>
  `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}${members}}`;
const rawProto = (members: string): string =>
  `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}${members}}`;

describeFaces("What REST 0.3 tolerates", (open) => {
  it.each([
    [
      "duplicate keys",
      "0.3/rest-json",
      '{"message":1,"message":{"messageId":"no","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}',
    ],
    [
      "duplicate keys",
      "0.3/rest-proto",
      '{"message":1,"message":{"messageId":"no","messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}}',
    ],
    [
      "__proto__",
      "0.3/rest-json",
      rawKinds(',"__proto__":{"polluted":true},"metadata":{"__proto__":{"polluted":true}}'),
    ],
    [
      "__proto__",
      "0.3/rest-proto",
      rawProto(',"__proto__":{"polluted":true},"metadata":{"__proto__":{"polluted":true}}'),
    ],
    ["numbers as strings", "0.3/rest-proto", rawProto(',"configuration":{"historyLength":"3"}')],
    ["enums as numbers", "0.3/rest-proto", '{"message":{"messageId":"m","role":1,"content":[{"text":"x"}]}}'],
    [
      "snake_case",
      "0.3/rest-proto",
      '{"message":{"message_id":"m","role":"ROLE_USER","content":[{"text":"x"}]},"configuration":{"history_length":1}}',
    ],
    [
      "the name of the definition",
      "0.3/rest-proto",
      '{"request":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}}',
    ],
    [
      "type for kind",
      "0.3/rest-json",
      '{"message":{"messageId":"m","role":"user","parts":[{"type":"text","text":"x"}]}}',
    ],
    ["no kind at all", "0.3/rest-json", '{"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]}}'],
    ["null for absent members", "0.3/rest-json", rawKinds(',"configuration":null,"metadata":null')],
    ["null for absent members", "0.3/rest-proto", rawProto(',"configuration":null,"metadata":null')],
    ["a byte order mark", "0.3/rest-json", `\uFEFF${rawKinds("")}`],
    ["unknown members, however deep", "0.3/rest-json", rawKinds(`,"unknown":${nested}`)],
    ["unknown members, however deep", "0.3/rest-proto", rawProto(`,"unknown":${nested}`)],
  ])("has no further effect: %s (%s)", async (_name, dialect, body) => {
    const site = await open();
    const response = await send(site, { line: SEND, body });
    expect(response.status).toBe(200);
    expect(site.engine.submissions).toHaveLength(1);
    expect(site.engine.submissions[0]).toMatchObject({
      call: { dialect },
      request: { message: { messageId: "m", role: "user", parts: [{ text: "x" }] } },
    });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([
    "/v1/tasks?",
    "/v1/tasks??&&=",
    "/v1/tasks/?pageSize=0&status=nope",
    "/v1/tasks?__proto__=1",
    "/v1/tasks?historyLength=0",
  ])("is an empty list: %s", async (path) => {
    const site = await open();
    const response = await site.request(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([]);
  });

  it.each(["", "null", "{}", '{"name":"tasks/x"}'])("counts as no body for a cancel: %j", async (body) => {
    const site = await open();
    const response = await send(site, { line: "POST /v1/tasks/x:cancel", body });
    expect(await earlierRest(response)).toBe("404 TASK_NOT_FOUND");
  });
});
