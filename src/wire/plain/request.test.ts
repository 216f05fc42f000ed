import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { A2AError } from "../../protocol/error.ts";
import type { MessageId } from "../../protocol/ids.ts";
import { OPERATIONS, type Operation, type OperationRequest, type SendRequest } from "../../protocol/operation.ts";
import type { TextPart } from "../../protocol/part.ts";
import { fieldRefused, frozen } from "../test/hostile.ts";
import { anything, mutated } from "../v0_3/test/hostile.ts";
import { createRestCodec } from "./codec.ts";
import { messageObject } from "./message.ts";

const lenient = createRestCodec({ lenient: undefined }, () => "made");
const strict = createRestCodec({ lenient: false }, () => "made");

function read(body: unknown, codec = lenient, operation: Operation = "send"): OperationRequest {
  return codec.decodeRequest(operation, { path: {}, query: new URLSearchParams(), body });
}

function decodeSend(body: unknown, codec = lenient): SendRequest {
  const request = read(body, codec);
  if (request.operation !== "send") throw new Error(request.operation);
  return request;
}

const HELLO = { messageId: "made", role: "user", parts: [{ text: "Hello" }] };

describe("A plain send", () => {
  it("may be a string; it answers at once and has a timeout of 5 minutes", () => {
    expect(decodeSend({ message: "Hello" })).toEqual({
      operation: "send",
      tenant: "",
      message: HELLO,
      metadata: { source: "agent" },
      outputModes: [],
      history: undefined,
      waitMs: 0,
      timeoutMs: 300_000,
    });
  });

  it("may have its parameters in params, as in JSON-RPC", () => {
    const params = { message: "Hello", skill: "greet", timeoutMs: 5000, sessionId: "s", taskId: "t" };
    expect(decodeSend({ params })).toEqual(decodeSend(params));
    expect(decodeSend({ jsonrpc: "2.0", id: 1, method: "tasks/send", params })).toEqual(decodeSend(params));
    expect(decodeSend({ ...params, params: null })).toEqual(decodeSend(params));
  });

  it.each([
    ["a text alone", "Hello"],
    ["a bare part", { parts: [{ text: "Hello" }] }],
    ["a part that says what it is", { role: "user", parts: [{ type: "text", text: "Hello" }] }],
    ["a part with kind", { kind: "message", role: "user", parts: [{ kind: "text", text: "Hello" }] }],
    ["null for what is not set", { role: null, messageId: null, taskId: null, parts: [{ type: null, text: "Hello" }] }],
  ])("accepts as message %s", (_what, message) => {
    expect(decodeSend({ message }).message).toEqual(HELLO);
  });

  it("keeps the id and metadata of the message", () => {
    const own = { messageId: "m", metadata: { a: [1] }, parts: [{ text: "a" }, { type: "text", text: "" }] };
    expect(decodeSend({ message: { ...own, contextId: "c", taskId: "t" } }).message).toEqual({
      messageId: "m",
      role: "user",
      metadata: { a: [1] },
      parts: [{ text: "a" }, { text: "" }],
      contextId: "c",
      taskId: "t",
    });
  });

  it("passes the skill in the metadata of the request", () => {
    expect(decodeSend({ message: "Hello", skill: "greet" }).metadata).toEqual({ source: "agent", skillId: "greet" });
    expect(decodeSend({ message: "Hello", skill: "" }).metadata).toEqual({ source: "agent" });
  });

  it.each([
    ["a session, for a new task in it", { sessionId: "s" }, { contextId: "s" }],
    ["a session by its later name", { contextId: "s" }, { contextId: "s" }],
    ["a task, to go on with it", { taskId: "t" }, { taskId: "t" }],
    ["both", { sessionId: "s", taskId: "t" }, { contextId: "s", taskId: "t" }],
    ["neither, by empty names", { sessionId: "", taskId: "" }, {}],
  ])("decodes %s", (_what, links, expected) => {
    expect(decodeSend({ message: "Hello", ...links }).message).toEqual({ ...HELLO, ...expected });
    const parts = [{ text: "Hello" }];
    expect(decodeSend({ message: { parts, ...links } }).message).toEqual({ ...HELLO, ...expected });
    expect(decodeSend({ message: { parts, ...links }, ...links }).message).toEqual({ ...HELLO, ...expected });
  });

  it.each([
    [1, 1],
    [5000, 5000],
    [0.25, 1],
    [2_147_483_647, 2_147_483_647],
    [null, 300_000],
  ])("decodes timeoutMs %s as %s", (timeoutMs, expected) => {
    expect(decodeSend({ message: "Hello", timeoutMs }).timeoutMs).toBe(expected);
  });

  it("ignores unknown members", () => {
    const more = { metadata: 5, configuration: [], id: {}, historyLength: "x" };
    expect(decodeSend({ message: "Hello", ...more })).toEqual(decodeSend({ message: "Hello" }));
  });
});

const parts = [{ text: "x" }];
const deep = JSON.parse(`${"[".repeat(80)}${"]".repeat(80)}`);

describe("A malformed plain send is refused, naming the field:", () => {
  it.each<[string, unknown, string]>([
    ["no body", undefined, "message"],
    ["null", null, "message"],
    ["a text", "Hello", "body"],
    ["a number", 5, "body"],
    ["a list", [{ message: "x" }], "body"],
    ["true", true, "body"],
    ["nothing in it", {}, "message"],
    ["null for a message", { message: null }, "message"],
    ["an empty message", { message: "" }, "message"],
    ["a number for a message", { message: 5 }, "message"],
    ["false for a message", { message: false }, "message"],
    ["a list for a message", { message: ["x"] }, "message"],
    ["the message under another name", { text: "x" }, "message"],
    ["parameters that are a list", { params: ["x"] }, "params"],
    ["parameters that are a text", { params: "x" }, "params"],
    ["parameters that are 0", { params: 0 }, "params"],
    ["no message in the parameters", { params: {} }, "params.message"],
    ["parameters beside a message", { message: "x", params: { message: "y" } }, "params"],
    ["parameters in parameters", { params: { params: { message: "x" } } }, "params.message"],
    ["an empty message in the parameters", { params: { message: "" } }, "params.message"],
    ["no parts", { message: {} }, "message.parts"],
    ["null for parts", { message: { parts: null } }, "message.parts"],
    ["an empty list of parts", { message: { parts: [] } }, "message.parts"],
    ["a text for parts", { message: { parts: "x" } }, "message.parts"],
    ["an object for parts", { message: { parts: { text: "x" } } }, "message.parts"],
    ["too many parts", { message: { parts: Array.from({ length: 1001 }, () => parts[0]) } }, "message.parts"],
    ["a text for a part", { message: { parts: ["x"] } }, "message.parts[0]"],
    ["null for a part", { message: { parts: [...parts, null] } }, "message.parts[1]"],
    ["an empty part", { message: { parts: [{}] } }, "message.parts[0].text"],
    ["a part without its text", { message: { parts: [{ type: "text" }] } }, "message.parts[0].text"],
    ["null for a text", { message: { parts: [{ text: null }] } }, "message.parts[0].text"],
    ["a number for a text", { message: { parts: [{ text: 5 }] } }, "message.parts[0].text"],
    ["an object for a text", { message: { parts: [{ text: {} }] } }, "message.parts[0].text"],
    ["a file", { message: { parts: [{ type: "file", file: { bytes: "" } }] } }, "message.parts[0].type"],
    ["a file with a text", { message: { parts: [{ type: "file", text: "x" }] } }, "message.parts[0].type"],
    ["data", { message: { parts: [{ kind: "data", data: {} }] } }, "message.parts[0].kind"],
    [
      "a part of two minds",
      { message: { parts: [{ type: "text", kind: "file", text: "x" }] } },
      "message.parts[0].kind",
    ],
    ["a number for a type", { message: { parts: [{ type: 1, text: "x" }] } }, "message.parts[0].type"],
    ["a part in the parameters", { params: { message: { parts: [5] } } }, "params.message.parts[0]"],
    ["a message from the agent", { message: { role: "agent", parts } }, "message.role"],
    ["a message from the system", { message: { role: "system", parts } }, "message.role"],
    ["a number for a role", { message: { role: 1, parts } }, "message.role"],
    ["an empty message id", { message: { messageId: "", parts } }, "message.messageId"],
    ["a long message id", { message: { messageId: "x".repeat(257), parts } }, "message.messageId"],
    ["a number for a message id", { message: { messageId: 7, parts } }, "message.messageId"],
    ["metadata that is a list", { message: { metadata: [], parts } }, "message.metadata"],
    ["metadata too deep", { message: { metadata: { deep }, parts } }, "message.metadata"],
    ["a number for a skill", { message: "x", skill: 1 }, "skill"],
    ["an object for a skill", { message: "x", skill: { id: "greet" } }, "skill"],
    ["a long skill", { params: { message: "x", skill: "x".repeat(257) } }, "params.skill"],
    ["half a character in a skill", { message: "x", skill: "\ud800" }, "skill"],
    ["a number for a session", { message: "x", sessionId: 1 }, "sessionId"],
    ["a long session", { message: "x", sessionId: "x".repeat(257) }, "sessionId"],
    ["a list for a task", { message: "x", taskId: ["t"] }, "taskId"],
    ["a long task", { message: "x", taskId: "x".repeat(257) }, "taskId"],
    ["a number for the message's task", { message: { taskId: 1, parts } }, "message.taskId"],
    ["a number for the message's session", { message: { contextId: 1, parts } }, "message.sessionId"],
    ["two tasks", { message: { taskId: "a", parts }, taskId: "b" }, "taskId"],
    ["two sessions", { message: { contextId: "a", parts }, sessionId: "b" }, "sessionId"],
    ["no time at all", { message: "x", timeoutMs: 0 }, "timeoutMs"],
    ["time before now", { message: "x", timeoutMs: -1 }, "timeoutMs"],
    ["all the time there is", JSON.parse('{"message":"x","timeoutMs":1e999}'), "timeoutMs"],
    ["more time than timers have", { message: "x", timeoutMs: 2 ** 31 }, "timeoutMs"],
    ["a text for the time", { message: "x", timeoutMs: "5000" }, "timeoutMs"],
    ["true for the time", { params: { message: "x", timeoutMs: true } }, "params.timeoutMs"],
    ["an object for the time", { message: "x", timeoutMs: {} }, "timeoutMs"],
  ])("%s", (_what, body, field) => {
    expect(fieldRefused(() => read(body))).toBe(field);
    expect(fieldRefused(() => read(body, strict))).toBeDefined();
  });
});

describe("With strict parsing, a plain send", () => {
  it.each([
    ["a text", { message: "x", skill: "s", timeoutMs: 1, sessionId: "s", taskId: "t" }],
    ["a message", { message: { role: "user", parts: [{ type: "text", text: "x" }, { text: "y" }] } }],
    ["its parameters", { params: { message: "x" } }],
  ])("is decoded alike with %s", (_what, body) => {
    expect(read(body, strict)).toEqual(read(body));
  });

  it.each([
    [
      "another name for the type of a part",
      { message: { parts: [{ kind: "text", text: "x" }] } },
      "message.parts[0].kind",
    ],
    ["another name for the session", { message: "x", contextId: "s" }, "contextId"],
    ["the session in the message", { message: { contextId: "s", parts } }, "message.contextId"],
    ["the session in the message, by its own name", { message: { sessionId: "s", parts } }, "message.sessionId"],
    ["the task in the message", { message: { taskId: "t", parts } }, "message.taskId"],
  ])("is refused for %s", (_what, body, field) => {
    expect(fieldRefused(() => read(body))).toBeUndefined();
    expect(fieldRefused(() => read(body, strict))).toBe(field);
  });
});

describe("Any JSON as a plain request", () => {
  const valid = fc.constantFrom<unknown>(
    { message: "Hello", skill: "greet", timeoutMs: 5, sessionId: "s", taskId: "t" },
    { params: { message: { role: "user", messageId: "m", parts: [{ type: "text", text: "x" }], metadata: { a: 1 } } } },
    { message: { parts: [{ text: "a" }, { kind: "text", text: "b" }], contextId: "c" } },
  );

  it("is decoded, or refused with a field name, and is not modified", () => {
    fc.assert(
      fc.property(fc.oneof(anything, mutated(valid)), fc.constantFrom(lenient, strict), (body, codec) => {
        const refused = fieldRefused(() => read(frozen(structuredClone(body)), codec));
        if (refused !== undefined) return;
        const { message, timeoutMs, waitMs } = decodeSend(body, codec);
        expect(message.role).toBe("user");
        expect(message.parts.length).toBeGreaterThan(0);
        expect(message.parts.every(({ text }) => typeof text === "string")).toBe(true);
        expect(timeoutMs).toBeGreaterThan(0);
        expect(waitMs).toBe(0);
      }),
      { numRuns: sampled(125, 1000), seed: 4 },
    );
  });

  it("is decoded if the plain dialect encoded it", () => {
    const texts = fc.array(
      fc.string({ unit: "binary" }).map((text): TextPart => ({ text })),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(texts, fc.string({ minLength: 1, maxLength: 20 }), (parts, id) => {
        const message = { messageId: "made" as MessageId, role: "user", parts } as const;
        const written: object = JSON.parse(JSON.stringify({ message: messageObject(message), sessionId: id }));
        for (const codec of [lenient, strict]) {
          expect(decodeSend(written, codec).message).toEqual({ ...message, contextId: id });
        }
      }),
      { seed: 4 },
    );
  });
});

describe("Getting a plain task", () => {
  const get = (path: Readonly<Record<string, string>>) =>
    lenient.decodeRequest("get", { path, query: new URLSearchParams("historyLength=x"), body: undefined });

  it("takes the id from the path, and requests the whole history", () => {
    expect(get({ id: "t/1" })).toEqual({ operation: "get", tenant: "", id: "t/1", history: undefined });
  });

  it.each([{}, { id: "" }, { id: "x".repeat(257) }, { id: "\ud800" }])("is refused for %j", (path) => {
    expect(fieldRefused(() => get(path))).toBe("id");
  });
});

it("The plain dialect refuses all other operations", () => {
  for (const operation of OPERATIONS.filter((known) => known !== "send" && known !== "get")) {
    expect(() => read({ message: "x" }, lenient, operation)).toThrow(A2AError);
  }
});
