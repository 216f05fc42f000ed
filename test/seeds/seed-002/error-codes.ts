import { TaskFailure } from "palaver";
import { expect, it } from "vitest";
import { at, post, streamed } from "../exchange.ts";
import { idsOf, saying, textPart } from "../kinds.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../stage.ts";
import { seed } from "./seed.ts";

const echo = () => serveScript(async (task) => task.text);

const send = (message: object, more: object = {}): object => rpcRequest(1, "message/send", { message, ...more });

it(
  seed.example("JSON-RPC Error Codes › -32700", "what is no JSON is a parse error, for nobody in particular"),
  async () => {
    await using stage = await echo();
    const answer = await post(`${stage.url}/api/a2a`, '{"jsonrpc": "2.0", ');
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
  },
);

it(seed.example("JSON-RPC Error Codes › -32600", "an envelope without a method is an invalid request"), async () => {
  await using stage = await echo();
  expect(errorOf(await post(`${stage.url}/api/a2a`, { jsonrpc: "2.0", id: 1 }), 1)).toMatchObject({ code: -32600 });
});

it(seed.example("JSON-RPC Error Codes › -32601", "an unknown method is not found"), async () => {
  await using stage = await echo();
  const answer = await post(`${stage.url}/api/a2a`, rpcRequest(1, "message/forget", {}));
  expect(errorOf(answer, 1)).toMatchObject({ code: -32601, message: "Method not found" });
});

it(seed.example("JSON-RPC Error Codes › -32602", "malformed parameters are named, each with its place"), async () => {
  await using stage = await echo();
  const violation = { field: "message.parts", description: "must have at least one part" };
  expect(errorOf(await post(stage.url, send(saying("", { parts: [] }))), 1)).toEqual({
    code: -32602,
    message: "message.parts: must have at least one part",
    data: { reason: "INVALID_PARAMS", violations: [violation] },
  });
});

it(
  seed.example("JSON-RPC Error Codes › -32603", "a failure of the server's side tells nothing of what failed"),
  async () => {
    await using stage = await serveScript(async () => "never", {
      reply() {
        throw new Error("password=1234");
      },
    });
    const answer = await post(stage.url, send(saying("Hello")));
    expect(errorOf(answer, 1)).toMatchObject({ code: -32603, data: { reason: "INTERNAL" } });
    expect(answer.text).not.toContain("1234");
  },
);

it(
  seed.example(
    "JSON-RPC Error Codes › -32001",
    "it is kept for unknown tasks: a question nobody answered fails the task, which can still be read",
  ),
  async () => {
    await using stage = await serveScript(async (task) => {
      await task.ask("Anybody?", { timeout: 1 });
    });
    const sent = resultOf(await post(stage.url, send(saying("Ask"), { configuration: { blocking: false } })), 1);
    const { taskId } = idsOf(sent);
    await streamed(stage.url, rpcRequest(2, "tasks/resubscribe", { id: taskId }));
    const task = resultOf(await post(stage.url, rpcRequest(3, "tasks/get", { id: taskId })), 3);
    expect(at(task, "status.state")).toBe("failed");
    expect(at(task, "status.message.parts.0")).toEqual(textPart("Input timeout"));
  },
);

it(
  seed.example(
    "JSON-RPC Error Codes › -32002",
    "it is kept for what cannot be canceled: a tool that failed fails the task",
  ),
  async () => {
    await using stage = await serveScript(async () => {
      throw new TaskFailure("Tool execution failed", { code: "tool-execution-failed", data: { tool: "search" } });
    });
    const task = resultOf(await post(stage.url, send(saying("Search"))), 1);
    expect(at(task, "status.state")).toBe("failed");
    expect(at(task, "status.message.parts")).toEqual([
      textPart("Tool execution failed"),
      { kind: "data", data: { tool: "search" } },
    ]);
    const cancel = await post(stage.url, rpcRequest(2, "tasks/cancel", { id: idsOf(task).taskId }));
    expect(errorOf(cancel, 2)).toMatchObject({ code: -32002, data: { reason: "TASK_NOT_CANCELABLE" } });
  },
);

it(
  seed.example(
    "JSON-RPC Error Codes › -32003",
    "it is kept for push: an unknown context is taken as a new one, and one that is not the task's is -32602",
  ),
  async () => {
    await using stage = await serveScript(async (task) => {
      await task.ask("What?");
    });
    const task = resultOf(await post(stage.url, send(saying("Hello", { contextId: "ctx-999" }))), 1);
    expect(at(task, "contextId")).toBe("ctx-999");
    const message = saying("Hello", { taskId: idsOf(task).taskId, contextId: "ctx-1000" });
    expect(errorOf(await post(stage.url, send(message)), 1)).toMatchObject({ code: -32602 });
  },
);

it(seed.example("JSON-RPC Error Codes › -32004", "an unknown task is -32001"), async () => {
  await using stage = await echo();
  const cancel = await post(stage.url, rpcRequest(1, "tasks/cancel", { id: "task-999" }));
  const data = { reason: "TASK_NOT_FOUND", taskId: "task-999" };
  expect(errorOf(cancel, 1)).toEqual({ code: -32001, message: "Task not found", data });
});
