import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { A2AError } from "../../protocol/error.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { OPERATIONS, type Operation, type OperationRequest } from "../../protocol/operation.ts";
import { dialectSettings, type WaitDefault } from "../options.ts";
import { frozen } from "../test/hostile.ts";
import { createRestClientCodec } from "./client-codec.ts";
import { createRestCodec } from "./codec.ts";
import { brokenBodies } from "./test/broken-bodies.ts";
import { json, request, SAMPLES, send } from "./test/models.ts";

const codec = createRestCodec(dialectSettings({}));

interface Given {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

function decode(operation: Operation, { path = {}, query = "", body }: Given): OperationRequest {
  return codec.decodeRequest(operation, { path, query: new URLSearchParams(query), body });
}

const MESSAGE = { messageId: "m", role: "ROLE_USER", content: [{ text: "hi" }] };

function sent(body: object): OperationRequest {
  return decode("send", { body });
}

function withPart(part: unknown): OperationRequest {
  return sent({ message: { ...MESSAGE, content: [part] } });
}

describe("a send", () => {
  test("is decoded with all its members", () => {
    const body = {
      message: {
        messageId: "m",
        contextId: "c",
        taskId: "t",
        role: "ROLE_USER",
        content: [
          { text: "hi", metadata: { a: 1 } },
          { file: { fileWithUri: "https://files.test/a.png", mimeType: "image/png", name: "a.png" } },
          { file: { fileWithBytes: "aGk=", mimeType: "text/plain" } },
          { data: { data: { n: 1 } } },
        ],
        metadata: { m: 1 },
        extensions: ["https://x.test"],
      },
      configuration: {
        acceptedOutputModes: ["text/plain"],
        pushNotification: { id: "p", url: "https://hook.test", token: "s", authentication: { schemes: ["Bearer"] } },
        historyLength: 3,
        blocking: true,
      },
      metadata: { r: 1 },
    };
    expect(sent(body)).toStrictEqual({
      operation: "send",
      tenant: "",
      message: {
        messageId: "m",
        role: "user",
        parts: [
          { text: "hi", metadata: { a: 1 } },
          { url: "https://files.test/a.png", mediaType: "image/png", filename: "a.png" },
          { raw: "aGk=", mediaType: "text/plain" },
          { data: { n: 1 } },
        ],
        contextId: "c",
        taskId: "t",
        extensions: ["https://x.test"],
        metadata: { m: 1 },
      },
      metadata: { r: 1 },
      outputModes: ["text/plain"],
      history: 3,
      waitMs: Number.POSITIVE_INFINITY,
      push: { id: "p", url: "https://hook.test", token: "s", authentication: { schemes: ["Bearer"] } },
    });
  });

  test("accepts the snake_case names and enum numbers of the proto definition", () => {
    const camel = {
      message: {
        ...MESSAGE,
        contextId: "c",
        taskId: "t",
        referenceTaskIds: ["r"],
        content: [{ file: { fileWithBytes: "aGk=", mimeType: "a/b" } }],
      },
      configuration: { acceptedOutputModes: ["a/b"], pushNotification: { url: "u" }, historyLength: 2 },
    };
    const snake = {
      request: {
        message_id: "m",
        context_id: "c",
        task_id: "t",
        role: 1,
        reference_task_ids: ["r"],
        content: [{ file: { file_with_bytes: "aGk=", mime_type: "a/b" } }],
      },
      configuration: { accepted_output_modes: ["a/b"], push_notification: { url: "u" }, history_length: "2" },
    };
    expect(sent(snake)).toStrictEqual(sent(camel));
    expect(sent(camel)).toMatchObject({ message: { referenceTaskIds: ["r"] }, history: 2 });
  });

  test.each<{ readonly absent: WaitDefault; readonly asked: object; readonly waitMs: number }>([
    { absent: "return", asked: { blocking: true }, waitMs: Number.POSITIVE_INFINITY },
    { absent: "wait", asked: { blocking: false }, waitMs: 0 },
    { absent: "return", asked: {}, waitMs: 0 },
    { absent: "wait", asked: {}, waitMs: Number.POSITIVE_INFINITY },
    { absent: 250, asked: {}, waitMs: 250 },
    { absent: 250, asked: { blocking: null }, waitMs: 250 },
    // A caller with a webhook does not need to wait.
    { absent: "wait", asked: { pushNotification: { url: "u" } }, waitMs: 0 },
    { absent: "wait", asked: { pushNotificationConfig: { url: "u" } }, waitMs: 0 },
    { absent: "return", asked: { blocking: true, pushNotification: { url: "u" } }, waitMs: Number.POSITIVE_INFINITY },
  ])("with $asked waits $waitMs ms if the default is $absent", ({ absent, asked, waitMs }) => {
    const settings = dialectSettings({ blockingDefault: { "0.3/rest-proto": absent } });
    const body = { message: MESSAGE, configuration: asked };
    const request = { path: {}, query: new URLSearchParams(), body };
    expect(createRestCodec(settings).decodeRequest("send", request)).toMatchObject({ waitMs });
  });

  test.each([
    ["absent", {}, undefined],
    ["0, which this style cannot tell from absent", { historyLength: 0 }, undefined],
    ["0 as text", { historyLength: "0" }, undefined],
    ["a number", { historyLength: 7 }, 7],
  ])("with a history length that is %s", (_name, configuration, history) => {
    expect(sent({ message: MESSAGE, configuration })).toMatchObject({ history });
  });

  test.each<[string, unknown, unknown]>([
    ["empty text", { text: "" }, { text: "" }],
    ["bytes in the other alphabet", { file: { fileWithBytes: "-_8" } }, { raw: "+/8=" }],
    ["no bytes at all", { file: { fileWithBytes: "" } }, { raw: "" }],
    ["bytes and an empty address", { file: { fileWithUri: "", fileWithBytes: "aGk=" } }, { raw: "aGk=" }],
    ["an address and empty bytes", { file: { fileWithUri: "u", fileWithBytes: "" } }, { url: "u" }],
    ["members of other contents that are null", { text: "a", file: null, data: null }, { text: "a" }],
    [
      "members that text parts do not have",
      { text: "a", metadata: { mediaType: "t/m", filename: "f" } },
      { text: "a", mediaType: "t/m", filename: "f" },
    ],
    ["data that is a list", { data: { data: [1] } }, { data: [1] }],
    ["wrapped data", { data: { data: { value: null } }, metadata: { data_part_compat: true } }, { data: null }],
    ["data that only looks wrapped", { data: { data: { value: 1 } } }, { data: { value: 1 } }],
    ["unknown members", { text: "a", kind: "text", future: 1 }, { text: "a" }],
  ])("with a part of %s", (_name, part, expected) => {
    expect(withPart(part)).toMatchObject({ message: { parts: [expected] } });
  });

  test("is safe with members such as __proto__", () => {
    const body: unknown = JSON.parse(
      '{"__proto__":{"message":1},"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"a"}],"metadata":{"__proto__":{"x":1}}}}',
    );
    const read = decode("send", { body });
    expect(JSON.stringify(read)).toContain('"metadata":{"__proto__":{"x":1}}');
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  test.each<[string, unknown]>([
    ["message", {}],
    ["message", undefined],
    ["message", { message: null }],
    ["message", { message: "hi" }],
    ["body", []],
    ["body", "hi"],
    ["message.messageId", { message: { ...MESSAGE, messageId: undefined } }],
    ["message.messageId", { message: { ...MESSAGE, messageId: "" } }],
    ["message.messageId", { message: { ...MESSAGE, messageId: 7 } }],
    ["message.messageId", { message: { ...MESSAGE, messageId: "i".repeat(10_000) } }],
    ["message.role", { message: { ...MESSAGE, role: undefined } }],
    ["message.role", { message: { ...MESSAGE, role: "ROLE_UNSPECIFIED" } }],
    ["message.role", { message: { ...MESSAGE, role: 0 } }],
    ["message.role", { message: { ...MESSAGE, role: "ROLE_AGENT" } }],
    ["message.role", { message: { ...MESSAGE, role: 2 } }],
    ["message.role", { message: { ...MESSAGE, role: "user" } }],
    ["message.role", { message: { ...MESSAGE, role: 9 } }],
    ["message.content", { message: { ...MESSAGE, content: undefined } }],
    ["message.content", { message: { ...MESSAGE, content: [] } }],
    ["message.content", { message: { ...MESSAGE, content: "abc" } }],
    ["message.content", { message: { ...MESSAGE, content: Array(1001).fill({ text: "a" }) } }],
    ["message.contextId", { message: { ...MESSAGE, contextId: 1 } }],
    ["message.taskId", { message: { ...MESSAGE, taskId: {} } }],
    ["message.extensions", { message: { ...MESSAGE, extensions: "x" } }],
    ["message.extensions[0]", { message: { ...MESSAGE, extensions: [1] } }],
    ["message.metadata", { message: { ...MESSAGE, metadata: [] } }],
    ["metadata", { message: MESSAGE, metadata: "x" }],
    ["configuration", { message: MESSAGE, configuration: [] }],
    ["configuration.blocking", { message: MESSAGE, configuration: { blocking: "true" } }],
    ["configuration.historyLength", { message: MESSAGE, configuration: { historyLength: -1 } }],
    ["configuration.historyLength", { message: MESSAGE, configuration: { history_length: 1.5 } }],
    ["configuration.acceptedOutputModes", { message: MESSAGE, configuration: { acceptedOutputModes: "text/plain" } }],
    ["configuration.acceptedOutputModes[0]", { message: MESSAGE, configuration: { acceptedOutputModes: [null] } }],
    ["configuration.pushNotification", { message: MESSAGE, configuration: { pushNotification: "u" } }],
    ["configuration.pushNotification.url", { message: MESSAGE, configuration: { pushNotification: {} } }],
  ])("is refused with the field %s: %#", (field, body) => {
    expect(fieldOf(() => decode("send", { body }))).toBe(field);
  });

  test.each<[string, unknown]>([
    ["", null],
    ["", "abc"],
    ["", []],
    ["", {}],
    ["", { kind: "text" }],
    ["", { text: "a", file: { fileWithUri: "u" } }],
    ["", { text: "a", data: {} }],
    [".text", { text: 1 }],
    [".metadata", { text: "a", metadata: 1 }],
    [".file", { file: "u" }],
    [".file", { file: {} }],
    [".file", { file: { fileWithUri: "" } }],
    [".file", { file: { fileWithUri: "u", fileWithBytes: "aGk=" } }],
    [".file.fileWithUri", { file: { fileWithUri: 1 } }],
    [".file.fileWithBytes", { file: { fileWithBytes: "%%%" } }],
    [".file.fileWithBytes", { file: { fileWithBytes: [1, 2] } }],
    [".file.mimeType", { file: { fileWithUri: "u", mimeType: 1 } }],
    [".file.name", { file: { fileWithUri: "u", name: {} } }],
    [".data", { data: "abc" }],
    [".data.data", { data: {} }],
    [".data.data", { data: { data: null } }],
    [".data.data", { data: { data: deep(65) } }],
  ])("is refused with the field of the part%s: %#", (member, part) => {
    expect(fieldOf(() => withPart(part))).toBe(`message.content[0]${member}`);
  });
});

function deep(depth: number): JsonValue {
  return depth === 0 ? {} : { a: deep(depth - 1) };
}

function fieldOf(read: () => unknown): string | undefined {
  try {
    read();
  } catch (thrown) {
    if (thrown instanceof A2AError && thrown.code === "invalid-params") return thrown.violations[0]?.field;
    throw thrown;
  }
  return undefined;
}

describe("a get", () => {
  test.each([
    ["", undefined],
    ["historyLength=0", undefined],
    ["historyLength=2", 2],
    ["history_length=2", 2],
  ])("decodes history from ?%s", (query, history) => {
    expect(decode("get", { path: { id: "t" }, query })).toStrictEqual({
      operation: "get",
      tenant: "",
      id: "t",
      history,
    });
  });

  test.each(["historyLength=-1", "historyLength=x", "historyLength=1.5", "historyLength=99999999999"])(
    "is refused for ?%s",
    (query) => {
      expect(fieldOf(() => decode("get", { path: { id: "t" }, query }))).toBe("historyLength");
    },
  );
});

describe("a cancel", () => {
  test.each([[undefined], [null], [{}], [{ name: "tasks/t" }]])(
    "takes the id from the path, whatever the body contains: %j",
    (body) => {
      expect(decode("cancel", { path: { id: "t" }, body })).toStrictEqual({
        operation: "cancel",
        tenant: "",
        id: "t",
        metadata: {},
      });
    },
  );
});

describe("a push configuration", () => {
  const config = { id: "c", url: "https://hook.test" };
  test.each<[string, object]>([
    [
      "in the format of the official servers",
      {
        parent: "tasks/t",
        configId: "c",
        config: { name: "tasks/t/pushNotificationConfigs/c", pushNotificationConfig: { url: config.url } },
      },
    ],
    [
      "the same in snake_case",
      { parent: "tasks/t", config_id: "c", config: { push_notification_config: { url: config.url } } },
    ],
    [
      "in the format of the definition",
      { name: "tasks/t/pushNotificationConfigs/c", pushNotificationConfig: { url: config.url } },
    ],
    ["as the text has it", { config }],
  ])("is decoded %s", (_name, body) => {
    expect(decode("push-create", { path: { id: "t" }, body })).toStrictEqual({
      operation: "push-create",
      tenant: "",
      taskId: "t",
      config,
    });
  });
});

/** The parts of a request, as the router returns them. */
function received(asked: OperationRequest): OperationRequest {
  const { path, body } = createRestClientCodec().encodeRequest(asked);
  const { pathname, searchParams } = new URL(path, "http://agent.test");
  const [, id, configId] =
    /^\/v1\/tasks\/([^/:]+)(?:\/pushNotificationConfigs(?:\/([^/]+))?|:\w+)?$/.exec(pathname) ?? [];
  const names = {
    ...(id && { id: decodeURIComponent(id) }),
    ...(configId && { configId: decodeURIComponent(configId) }),
  };
  return decode(asked.operation, {
    path: names,
    query: searchParams.toString(),
    body: body === undefined ? undefined : frozen(JSON.parse(body)),
  });
}

describe("any request", () => {
  test("decodes to the encoded request", () => {
    fc.assert(
      fc.property(request, (asked) => {
        expect(received(asked)).toStrictEqual(asked);
      }),
      SAMPLES,
    );
  });

  test("loses only information that the proto style cannot encode", () => {
    const asked = { operation: "get", tenant: "", id: "t", history: 0 } as OperationRequest;
    expect(received(asked)).toMatchObject({ history: 1 });
    expect(received({ ...asked, operation: "cancel", metadata: { a: 1 } } as OperationRequest)).toMatchObject({
      metadata: {},
    });
  });

  const bodies = send.map((asked): JsonValue => JSON.parse(createRestClientCodec().encodeRequest(asked).body ?? ""));
  const pushes = request
    .filter(({ operation }) => operation === "push-create")
    .map((asked): JsonValue => JSON.parse(createRestClientCodec().encodeRequest(asked).body ?? ""));
  const operations = fc.constantFrom(...OPERATIONS);
  const names = fc.dictionary(fc.constantFrom("id", "configId"), fc.string());
  const queries = fc.dictionary(fc.constantFrom("historyLength", "history_length", "x"), fc.string());

  test.each([
    ["anything", json],
    ["almost a send", brokenBodies(bodies)],
    ["almost a push configuration", brokenBodies(pushes)],
  ])("is decoded or refused, and not modified: %s", (_name, some) => {
    let refused = 0;
    fc.assert(
      fc.property(fc.record({ operation: operations, body: some, path: names, query: queries }), (given) => {
        const { operation, body, path, query } = given;
        try {
          const read = decode(operation, { path, query: new URLSearchParams(query).toString(), body: frozen(body) });
          expect(read.operation).toBe(operation);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(A2AError);
          expect(thrown).toMatchObject({ code: "invalid-params", violations: [{ field: expect.any(String) }] });
          refused += 1;
        }
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
    expect(refused).toBeGreaterThan(sampled(25, 200));
  });

  test("is decoded or refused, and not modified: sends that are almost valid", () => {
    let understood = 0;
    fc.assert(
      fc.property(brokenBodies(bodies), (body) => {
        understood += Number(fieldOf(() => decode("send", { body: frozen(body) })) === undefined);
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
    // Some of them are decoded, and some are refused.
    expect(understood).toBeGreaterThan(sampled(6, 50));
    expect(understood).toBeLessThan(sampled(119, 950));
  });
});
