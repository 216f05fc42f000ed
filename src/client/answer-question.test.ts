import { describe, expect, it } from "vitest";
import type { ContextId, MessageId, TaskId } from "../protocol/ids.ts";
import { inputSchemaPart } from "../protocol/input-request.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Part } from "../protocol/part.ts";
import type { Task } from "../protocol/task.ts";
import { toolResultPart, toolUsePart } from "../protocol/tool-part.ts";
import { answerQuestion, canAnswer } from "./answer-question.ts";
import type { Question } from "./api.ts";

const { signal } = new AbortController();

function asking(parts: readonly Part[], metadata: JsonObject = {}): Task {
  return {
    id: "t" as TaskId,
    contextId: "c" as ContextId,
    status: {
      state: "input-required",
      timestamp: "2030-01-01T00:00:00.000Z",
      message: { messageId: "q" as MessageId, role: "agent", parts, metadata },
    },
  };
}

const add = toolUsePart({ toolUseId: "u1", name: "add", input: [1, 2] });
const other = toolUsePart({ toolUseId: "u2", name: "other" });

describe("A question", () => {
  it("has the JSON Schema of its answer, also if it was relayed under another request id", async () => {
    const schemas: unknown[] = [];
    const onInput = (question: Question) => {
      schemas.push(question.schema);
      return [{ data: { n: 1 } }];
    };
    const part = (requestId: string, schema: JsonObject) => inputSchemaPart({ requestId, schema });
    const one = { inputRequest: { requestId: "r1", kind: "input-request", prompt: "How many?" } };
    await answerQuestion(asking([{ text: "How many?" }, part("r1", { type: "number" })], one), { onInput }, signal);
    await answerQuestion(asking([{ text: "How many?" }, part("other", { type: "string" })], one), { onInput }, signal);
    const both = [part("r2", { type: "null" }), part("r1", { type: "boolean" })];
    await answerQuestion(asking([{ text: "How many?" }, ...both], one), { onInput }, signal);
    await answerQuestion(asking([{ text: "How many?" }], one), { onInput }, signal);
    expect(schemas).toEqual([{ type: "number" }, { type: "string" }, { type: "boolean" }, undefined]);
  });

  it("for tools is answered with the result of each tool, by name", async () => {
    const task = asking([{ text: "Please" }, add, toolUsePart({ toolUseId: "u3", name: "add", input: [3, 4] })]);
    const tools = { add: (input: unknown) => (input as number[]).reduce((sum, each) => sum + each) };
    expect(await answerQuestion(task, { tools }, signal)).toEqual([
      { data: { toolUseId: "u1", result: 3 }, metadata: { kind: "tool-result" } },
      { data: { toolUseId: "u3", result: 7 }, metadata: { kind: "tool-result" } },
    ]);
  });

  it.each([
    ["undefined", () => undefined, null],
    ["values that are not JSON", () => ({ at: new Date(0), left: undefined }), { at: "1970-01-01T00:00:00.000Z" }],
    [
      "an error",
      () => {
        throw new Error("no batteries");
      },
      { isError: true, message: "no batteries" },
    ],
    ["a rejection", () => Promise.reject(new Error("late")), { isError: true, message: "late" }],
  ])("for a tool that returns %s has an answer too", async (_, tool, result) => {
    expect(await answerQuestion(asking([add]), { tools: { add: tool } }, signal)).toMatchObject([
      { data: { toolUseId: "u1", result } },
    ]);
  });

  it("for an unknown tool is answered with an error if another requested tool is known", async () => {
    const answer = await answerQuestion(asking([add, other]), { tools: { add: () => 1 } }, signal);
    expect(answer).toMatchObject([{}, { data: { toolUseId: "u2", result: { isError: true } } }]);
  });

  it("only for unknown tools goes to `onInput`", async () => {
    const questions: Question[] = [];
    const onInput = (question: Question): string => {
      questions.push(question);
      return "by hand";
    };
    const task = asking([{ text: "Please" }, other], { inputRequest: { sensitive: true } });
    // Properties that every object inherits are not tools.
    const tools = { add: () => 1 };
    expect(await answerQuestion(task, { tools, onInput }, signal)).toBe("by hand");
    expect(questions).toEqual([{ text: "Please", task, sensitive: true }]);
    const inherited = asking([toolUsePart({ toolUseId: "u", name: "toString" })]);
    expect(await answerQuestion(inherited, { tools }, signal)).toBeUndefined();
  });

  it("with a request id gets an answer that names this id", async () => {
    const task = asking([{ text: "Well?" }], { inputRequest: { requestId: "q1", prompt: "Well?" } });
    const named = { parts: [{ text: "yes" }], metadata: { inputRequest: { requestId: "q1" } } };
    expect(await answerQuestion(task, { onInput: () => "yes" }, signal)).toMatchObject(named);
    const own = [toolResultPart({ toolUseId: "q1", result: 1 })];
    expect(await answerQuestion(task, { onInput: () => own }, signal)).toBe(own);
  });

  it("that is one of several is asked separately, in order", async () => {
    const questions: Question[] = [];
    const onInput = (question: Question): string => {
      questions.push(question);
      return "yes";
    };
    const inputRequests = [
      { kind: "auth-request", requestId: "q0", prompt: "Log in." },
      { kind: "input-request", requestId: "q1", prompt: "Well?" },
      { kind: "input-request", requestId: "q2", prompt: "PIN?", sensitive: true },
    ];
    const task = asking([{ text: "Log in.\nWell?\nPIN?" }], { inputRequests, sensitive: true });
    expect(await answerQuestion(task, { onInput }, signal)).toMatchObject({
      parts: [{ text: "yes" }],
      metadata: { inputRequest: { requestId: "q1" } },
    });
    expect(questions).toEqual([{ text: "Well?", task, sensitive: false, requestId: "q1" }]);
  });

  it("stays open if `onInput` returns nothing", async () => {
    expect(await answerQuestion(asking([{ text: "Well?" }]), { onInput: () => undefined }, signal)).toBeUndefined();
    expect([canAnswer({}), canAnswer({ tools: {} }), canAnswer({ onInput: () => undefined })]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("is abandoned when the caller aborts; its tools are aborted too", async () => {
    const controller = new AbortController();
    const tools = {
      add: (_: unknown, call: { readonly signal: AbortSignal }) => {
        controller.abort(new Error("enough"));
        call.signal.throwIfAborted();
      },
    };
    await expect(answerQuestion(asking([add]), { tools }, controller.signal)).rejects.toThrow("enough");
  });
});
