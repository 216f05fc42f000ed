import { describe, expect, it } from "vitest";
import { earlierRpc, expectAnswers, type Row, send, sketch } from "../test/corpus.ts";
import { describeFaces } from "../test/faces.ts";
import { KINDS } from "../test/spellings.ts";
import { NO_JSON, WRONG_TYPES } from "../test/wrong-bodies.ts";
import { deep, hugeId, wrongSends } from "../test/wrong-sends.ts";

const LINE = "POST /a2a";
const VERSION = { "a2a-version": "0.3" };
const good = { message: { ...KINDS.base, parts: [{ kind: "text", text: "x" }] } };

function envelope(name: string, body: string | Uint8Array<ArrayBuffer>, answer: string): Row {
  return { name, line: LINE, body, headers: VERSION, answer };
}

/** Bodies that are invalid before their parameters are parsed: HTTP status, code, and the id if it is not 1. */
const ENVELOPES: readonly Row[] = [
  envelope("an empty body", "", "400 -32700 (null)"),
  ...NO_JSON.map(([name, body]) => envelope(name, body, "400 -32700 (null)")),
  envelope("null", "null", "200 -32600 (null)"),
  envelope("a number", "42", "200 -32600 (null)"),
  envelope("a string", '"tasks/get"', "200 -32600 (null)"),
  envelope("true", "true", "200 -32600 (null)"),
  envelope("an empty batch", "[]", "200 -32600 (null)"),
  envelope("a batch", '[{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}]', "200 -32600 (null)"),
  envelope("ten thousand nested arrays", "[".repeat(10_000) + "]".repeat(10_000), "200 -32600 (null)"),
  envelope("an empty object", "{}", "200 -32600 (null)"),
  envelope("no jsonrpc", '{"id":1,"method":"tasks/get"}', "200 -32600"),
  envelope("jsonrpc 1.0", '{"jsonrpc":"1.0","id":1,"method":"tasks/get"}', "200 -32600"),
  envelope("jsonrpc as number", '{"jsonrpc":2.0,"id":1,"method":"tasks/get"}', "200 -32600"),
  envelope("jsonrpc null", '{"jsonrpc":null,"id":"a","method":"tasks/get"}', '200 -32600 ("a")'),
  envelope("no method", '{"jsonrpc":"2.0","id":"abc"}', '200 -32600 ("abc")'),
  envelope("an empty method", '{"jsonrpc":"2.0","id":7,"method":""}', "200 -32600 (7)"),
  envelope("a method that is a number", '{"jsonrpc":"2.0","id":7,"method":1}', "200 -32600 (7)"),
  envelope("a method that is an object", '{"jsonrpc":"2.0","id":7,"method":{}}', "200 -32600 (7)"),
  envelope("a method that is an array", '{"jsonrpc":"2.0","id":7,"method":["tasks/get"]}', "200 -32600 (7)"),
  envelope("an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"tasks/get"}', "200 -32600 (null)"),
  envelope("an id that is an array", '{"jsonrpc":"2.0","id":[1],"method":"tasks/get"}', "200 -32600 (null)"),
  envelope("an id that is true", '{"jsonrpc":"2.0","id":true,"method":"tasks/get"}', "200 -32600 (null)"),
  envelope("a fractional id", '{"jsonrpc":"2.0","id":1.5,"method":"tasks/get"}', "200 -32600 (null)"),
  envelope(
    "an id too large to echo",
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"x/y"}',
    "200 -32600 (null)",
  ),
  envelope("an endless id", `{"jsonrpc":"2.0","id":"${"x".repeat(2000)}","method":"tasks/get"}`, "200 -32600 (null)"),
  envelope(
    "an id of nearly 10 MB",
    `{"jsonrpc":"2.0","id":"${"x".repeat(9_900_000)}","method":"a/b"}`,
    "200 -32600 (null)",
  ),
  envelope("a method of no version", '{"jsonrpc":"2.0","id":1,"method":"tasks/nonsense"}', "200 -32601"),
  envelope("a method in the wrong case", '{"jsonrpc":"2.0","id":1,"method":"Tasks/Get"}', "200 -32601"),
  envelope("a method with a space", '{"jsonrpc":"2.0","id":1,"method":"tasks/get "}', "200 -32601"),
  envelope("a method with two slashes", '{"jsonrpc":"2.0","id":1,"method":"tasks//get"}', "200 -32601"),
  envelope("nothing but a slash", '{"jsonrpc":"2.0","id":1,"method":"/"}', "200 -32601"),
  envelope("a list, which is not in this version", '{"jsonrpc":"2.0","id":1,"method":"tasks/list"}', "200 -32601"),
  envelope("an unknown method without id", '{"jsonrpc":"2.0","method":"tasks/nonsense"}', "200 -32601 (null)"),
  envelope("wrong params without id", '{"jsonrpc":"2.0","method":"tasks/get","params":{}}', "200 -32602 id (null)"),
  envelope("a good call without id", '{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"x"}}', "200 -32600 (null)"),
  envelope(
    "a good send without id",
    JSON.stringify({ jsonrpc: "2.0", method: "message/send", params: good }),
    "200 -32600 (null)",
  ),
  envelope("params by position", '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":["x"]}', "200 -32602 params"),
  envelope(
    "params that are a string",
    '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":"x"}',
    "200 -32602 params",
  ),
  envelope(
    "params that are a number",
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":1}',
    "200 -32602 params",
  ),
  envelope(
    "params that are true",
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":true}',
    "200 -32602 params",
  ),
  envelope("a body of 10 MB and more", `"${"x".repeat(10_000_000)}"`, "413 -32058 (null)"),
  ...WRONG_TYPES.map((type) => ({
    name: type,
    line: LINE,
    body: { jsonrpc: "2.0", id: 1, method: "message/send", params: good },
    headers: { ...VERSION, "content-type": type },
    answer: "415 -32005 (null)",
  })),
  ...["-1", "1.5", "abc", "01", "9999999999999999"].map((cursor) => ({
    name: `cursor ${cursor}`,
    line: LINE,
    body: { jsonrpc: "2.0", id: 1, method: "message/stream", params: good },
    headers: { "last-event-id": cursor },
    answer: "200 -32602 Last-Event-ID",
  })),
];

const kinds = good.message;

/** Parameters that are wrong, by the method they are wrong for, and the path of what is. */
const PARAMS: Readonly<Record<string, readonly (readonly [unknown, string])[]>> = {
  "message/send": [
    [undefined, "message"],
    [null, "message"],
    ...wrongSends(KINDS),
    [hugeId(KINDS), "message.messageId"],
    [{ message: { ...kinds, kind: "task" } }, "message.kind"],
    [{ message: { ...kinds, kind: 1 } }, "message.kind"],
    [{ message: { ...kinds, parts: [{ kind: "video", text: "x" }] } }, "message.parts[0].kind"],
    [{ message: { ...kinds, parts: [{ type: "video", text: "x" }] } }, "message.parts[0].type"],
    [{ message: { ...kinds, parts: [{ kind: "text" }] } }, "message.parts[0].text"],
    [{ message: { ...kinds, parts: [{ kind: "data" }] } }, "message.parts[0].data"],
    [{ message: { ...kinds, parts: [{ kind: "file" }] } }, "message.parts[0].file"],
    [{ message: { ...kinds, parts: [{ kind: "file", file: {} }] } }, "message.parts[0].file"],
    [{ message: { ...kinds, parts: [{ kind: "file", file: { bytes: "", uri: "u" } }] } }, "message.parts[0].file"],
    [{ message: kinds, configuration: { historyLength: "3" } }, "configuration.historyLength"],
    [{ message: { ...KINDS.base, content: [{ text: "x" }] } }, "message.parts"],
    [{ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] } }, "message.role"],
  ],
  "tasks/get": [
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
    [{ id: "a", historyLength: -1 }, "historyLength"],
    [{ id: "a", historyLength: 0.5 }, "historyLength"],
    [{ id: "a", historyLength: "3" }, "historyLength"],
    [{ id: "a", historyLength: {} }, "historyLength"],
    [{ id: "a", historyLength: 2 ** 31 }, "historyLength"],
  ],
  "tasks/cancel": [
    [undefined, "id"],
    [{}, "id"],
    [{ id: 1 }, "id"],
    [{ id: "a", metadata: "x" }, "metadata"],
    [{ id: "a", metadata: [] }, "metadata"],
    [{ id: "a", metadata: { a: deep(70) } }, "metadata"],
  ],
  "tasks/resubscribe": [
    [undefined, "id"],
    [{}, "id"],
    [{ id: "" }, "id"],
    [{ id: false }, "id"],
  ],
  "tasks/pushNotificationConfig/set": [
    [{}, "taskId"],
    [{ id: "t" }, "taskId"],
    [{ taskId: "t" }, "pushNotificationConfig"],
    [{ taskId: "t", pushNotificationConfig: "x" }, "pushNotificationConfig"],
    [{ taskId: "t", pushNotificationConfig: {} }, "pushNotificationConfig.url"],
    [{ taskId: "t", pushNotificationConfig: { url: [] } }, "pushNotificationConfig.url"],
    [{ taskId: "t", pushNotificationConfig: { url: "u", token: 1 } }, "pushNotificationConfig.token"],
    [{ taskId: "t", pushNotificationConfig: { url: "u", id: 1 } }, "pushNotificationConfig.id"],
    [
      { taskId: "t", pushNotificationConfig: { url: "u", authentication: { credentials: "x" } } },
      "pushNotificationConfig.authentication.schemes",
    ],
    [
      { taskId: "t", pushNotificationConfig: { url: "u", authentication: { schemes: "Bearer" } } },
      "pushNotificationConfig.authentication.schemes",
    ],
  ],
  "tasks/pushNotificationConfig/get": [
    [{}, "id"],
    [{ taskId: "t" }, "id"],
    [{ id: "t", pushNotificationConfigId: 1 }, "pushNotificationConfigId"],
  ],
  "tasks/pushNotificationConfig/list": [
    [{}, "id"],
    [{ id: [] }, "id"],
  ],
  "tasks/pushNotificationConfig/delete": [
    [{}, "pushNotificationConfigId"],
    [{ pushNotificationConfigId: "c" }, "id"],
    [{ id: "t" }, "pushNotificationConfigId"],
    [{ id: "t", pushNotificationConfigId: "" }, "pushNotificationConfigId"],
  ],
};

/** Each row for a send is also sent to its streaming twin. */
const CALLS: readonly Row[] = Object.entries(PARAMS).flatMap(([method, rows]) =>
  (method === "message/send" ? [method, "message/stream"] : [method]).flatMap((each) =>
    rows.map(([params, field]) => ({
      name: `${each} ${sketch(params)}`,
      line: LINE,
      // Only the method name shows the version.
      body: { jsonrpc: "2.0", id: 1, method: each, params },
      answer: `200 -32602 ${field}`,
    })),
  ),
);

describe("The corpus of malformed requests of JSON-RPC 0.3", () => {
  it("has at least the expected number of requests", () => {
    expect(ENVELOPES.length).toBeGreaterThan(70);
    expect(Object.values(PARAMS).flat().length).toBeGreaterThan(150);
  });
});

describeFaces("Malformed requests of JSON-RPC 0.3", (open) => {
  it.each([
    ["wrong envelopes", ENVELOPES],
    ["wrong parameters", CALLS],
  ])(
    "get the answer the table gives them, and nothing runs: %s",
    async (_name, rows) => {
      await expectAnswers(await open(), rows, earlierRpc);
    },
    30_000,
  );
});

const nested = "[".repeat(10_000) + "]".repeat(10_000);
const raw = (members: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}${members}}}`;

describeFaces("What JSON-RPC 0.3 tolerates", (open) => {
  it.each([
    ["duplicate keys", raw("").replace('"messageId"', '"messageId":"no","messageId"')],
    ["__proto__ as plain data", raw(',"__proto__":{"polluted":true},"metadata":{"__proto__":{"polluted":true}}')],
    ["null for absent members", raw(',"configuration":null,"metadata":null')],
    ["a byte order mark", `\uFEFF${raw("")}`],
    ["unknown members, however deep", raw(`,"unknown":${nested}`)],
    ["a message without kind", raw("").replace('"kind":"message",', "")],
    ["a part without kind", raw("").replace('"kind":"text",', "")],
    ["type for kind", raw("").replace('"kind":"text"', '"type":"text"')],
    ["an id outside the message", raw(',"messageId":"m"').replace('"messageId":"m","role"', '"role"')],
    [
      "params before the method",
      raw("").replace('"method":"message/send",', "").replace(/\}$/, ',"method":"message/send"}'),
    ],
  ])("has no further effect: %s", async (_name, body) => {
    const site = await open();
    const response = await send(site, { line: LINE, body });
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: 1, result: { kind: "task" } });
    expect(site.engine.submissions).toHaveLength(1);
    expect(site.engine.submissions[0]).toMatchObject({
      call: { dialect: "0.3/jsonrpc" },
      request: { message: { messageId: "m", role: "user", parts: [{ text: "x" }] } },
    });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
