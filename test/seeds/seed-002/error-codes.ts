import { TaskFailure } from "palaver";
import { expect, it } from "vitest";
import { at, post, streamed } from "../exchange.ts";
import { idsOf, textPart, userMessage } from "../kinds.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

const echo = () => serveScript(async (task) => task.text);

const send = (message: object, more: object = {}): object => rpcRequest(1, "message/send", { message, ...more });

it(
  seed.example("JSON-RPC Error Codes › -32700", "a body that is not JSON is a parse error without an id"),
  async () => {
    await using testServer = await echo();
    const answer = await post(`${testServer.url}/api/a2a`, '{"jsonrpc": "2.0", ');
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
  },
);

it(seed.example("JSON-RPC Error Codes › -32600", "an envelope without a method is an invalid request"), async () => {
  await using testServer = await echo();
  expect(errorOf(await post(`${testServer.url}/api/a2a`, { jsonrpc: "2.0", id: 1 }), 1)).toMatchObject({
    code: -32600,
  });
});

it(seed.example("JSON-RPC Error Codes › -32601", "an unknown method is not found"), async () => {
  await using testServer = await echo();
  const answer = await post(`${testServer.url}/api/a2a`, rpcRequest(1, "message/forget", {}));
  expect(errorOf(answer, 1)).toMatchObject({ code: -32601, message: "Method not found" });
});

it(seed.example("JSON-RPC Error Codes › -32602", "invalid parameters are listed, each with its path"), async () => {
  await using testServer = await echo();
  const violation = { field: "message.parts", description: "must have at least one part" };
  expect(errorOf(await post(testServer.url, send(userMessage("", { parts: [] }))), 1)).toEqual({
    code: -32602,
    message: "message.parts: must have at least one part",
    data: { reason: "INVALID_PARAMS", violations: [violation] },
  });
});

it(seed.example("JSON-RPC Error Codes › -32603", "an internal failure exposes no details"), async () => {
  await using testServer = await serveScript(async () => "never", {
    reply() {
      throw new Error("password=1234");
    },
  });
  const answer = await post(testServer.url, send(userMessage("Hello")));
  expect(errorOf(answer, 1)).toMatchObject({ code: -32603, data: { reason: "INTERNAL" } });
  expect(answer.text).not.toContain("1234");
});

it(
  seed.example(
    "JSON-RPC Error Codes › -32001",
    "this code is reserved for unknown tasks: an unanswered question fails the task, which can still be read",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.ask("Anybody?", { timeout: 1 });
    });
    const sent = resultOf(
      await post(testServer.url, send(userMessage("Ask"), { configuration: { blocking: false } })),
      1,
    );
    const { taskId } = idsOf(sent);
    await streamed(testServer.url, rpcRequest(2, "tasks/resubscribe", { id: taskId }));
    const task = resultOf(await post(testServer.url, rpcRequest(3, "tasks/get", { id: taskId })), 3);
    expect(at(task, "status.state")).toBe("failed");
    expect(at(task, "status.message.parts.0")).toEqual(textPart("Input timeout"));
  },
);

it(
  seed.example(
    "JSON-RPC Error Codes › -32002",
    "this code is reserved for tasks that cannot be canceled: a failed tool fails the task",
  ),
  async () => {
    await using testServer = await serveScript(async () => {
      throw new TaskFailure("Tool execution failed", { code: "tool-execution-failed", data: { tool: "search" } });
    });
    const task = resultOf(await post(testServer.url, send(userMessage("Search"))), 1);
    expect(at(task, "status.state")).toBe("failed");
    expect(at(task, "status.message.parts")).toEqual([
      textPart("Tool execution failed"),
      { kind: "data", data: { tool: "search" } },
    ]);
    const cancel = await post(testServer.url, rpcRequest(2, "tasks/cancel", { id: idsOf(task).taskId }));
    expect(errorOf(cancel, 2)).toMatchObject({ code: -32002, data: { reason: "TASK_NOT_CANCELABLE" } });
  },
);

it(
  seed.example(
    "JSON-RPC Error Codes › -32003",
    "this code is reserved for webhooks: an unknown context id creates a context; a context id of another task is -32602",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.ask("What?");
    });
    const task = resultOf(await post(testServer.url, send(userMessage("Hello", { contextId: "ctx-999" }))), 1);
    expect(at(task, "contextId")).toBe("ctx-999");
    const message = userMessage("Hello", { taskId: idsOf(task).taskId, contextId: "ctx-1000" });
    expect(errorOf(await post(testServer.url, send(message)), 1)).toMatchObject({ code: -32602 });
  },
);

it(seed.example("JSON-RPC Error Codes › -32004", "an unknown task is -32001"), async () => {
  await using testServer = await echo();
  const cancel = await post(testServer.url, rpcRequest(1, "tasks/cancel", { id: "task-999" }));
  const data = { reason: "TASK_NOT_FOUND", taskId: "task-999" };
  expect(errorOf(cancel, 1)).toEqual({ code: -32001, message: "Task not found", data });
});
