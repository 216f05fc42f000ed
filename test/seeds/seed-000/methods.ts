import { agent } from "palaver";
import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, post, streamed } from "../exchange.ts";
import { TIME } from "../matchers.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, getTask, IN_0_1, sendTask, taskParams } from "./tasks.ts";

it(
  seed.example(
    "3.1 tasks/send › create",
    "the task has the id and the session chosen by its caller, and the response does not wait for the task",
  ),
  async () => {
    const gate = createGate();
    await using testServer = await serveScript(async (task) => gate.passed(task.signal));
    const task = await sendTask(testServer.url, taskParams("task-1", "Hello"));
    expect(task).toEqual({
      id: "task-1",
      sessionId: "session-1",
      status: { state: expect.stringMatching(/^(submitted|working)$/), timestamp: TIME },
      artifacts: [],
    });
  },
);

it(seed.example("3.1 tasks/send › resume", "a task that asks continues with the next message of its id"), async () => {
  await using testServer = await serveScript(async (task) => `You said ${await task.ask("What?")}`);
  const frames = await streamed(testServer.url, rpcRequest(1, "tasks/sendSubscribe", taskParams("task-1", "Hello")));
  expect(at(frames.at(-1)?.json, "result.status")).toMatchObject({
    state: "input-required",
    message: { role: "agent", parts: [{ type: "text", text: "What?" }] },
  });
  await sendTask(testServer.url, taskParams("task-1", "this"));
  expect(await endedTask(testServer.url, "task-1")).toMatchObject({
    status: { state: "completed" },
    artifacts: [{ parts: [{ type: "text", text: "You said this" }] }],
  });
});

it(
  seed.example(
    "3.1 tasks/send › no matching skill",
    "the task fails and lists the available skills; callers of later versions see it rejected",
  ),
  async () => {
    const skill = (id: string) => ({ id, name: id, description: "One of two.", tags: ["x"], run: async () => "done" });
    const skilled = { name: "Skilled", description: "Does one of two.", version: "1.0.0" };
    await using testServer = await serveAgents(agent({ ...skilled, skills: [skill("one"), skill("two")] }));
    await sendTask(testServer.url, taskParams("task-1", "Hello"));
    expect(at(await endedTask(testServer.url, "task-1"), "status")).toEqual({
      state: "failed",
      message: { role: "agent", parts: [{ type: "text", text: expect.stringContaining('"one"') }] },
      timestamp: TIME,
    });
    const later = await post(testServer.url, rpcRequest(1, "tasks/get", { id: "task-1" }), { "a2a-version": "0.3" });
    expect(at(resultOf(later, 1), "status.state")).toBe("rejected");
  },
);

it(seed.example("3.1 tasks/send › a skill that fails", "the task fails without exposing the exception"), async () => {
  await using testServer = await serveScript(async () => {
    throw new Error("password=1234");
  });
  await sendTask(testServer.url, taskParams("task-1", "Hello"));
  const task = await endedTask(testServer.url, "task-1");
  expect(task).toMatchObject({ status: { state: "failed", message: { role: "agent" } } });
  expect(JSON.stringify(task)).not.toContain("1234");
});

it(
  seed.example(
    "3.2 tasks/get",
    "returns status and artifacts; without a version in the request, the members of all versions it may have",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done");
    await sendTask(testServer.url, taskParams("task-1", "Hello"));
    const task = await endedTask(testServer.url, "task-1");
    expect(task).toEqual({
      id: "task-1",
      sessionId: "session-1",
      status: { state: "completed", timestamp: TIME },
      artifacts: [{ index: 0, name: "result", parts: [{ type: "text", text: "done" }] }],
    });
    const silent = resultOf(await post(testServer.url, rpcRequest(2, "tasks/get", { id: "task-1" })), 2);
    expect(silent).toMatchObject(task as object);
    expect(silent).toMatchObject({
      kind: "task",
      contextId: "session-1",
      artifacts: [{ artifactId: expect.any(String), parts: [{ kind: "text" }] }],
    });
  },
);

it(seed.example("3.2 tasks/get › unknown task", 'the error is "task not found" and names the task'), async () => {
  await using testServer = await serveScript(async () => "done");
  const request = rpcRequest(1, "tasks/get", { id: "task-1" });
  for (const headers of [{}, IN_0_1]) {
    expect(errorOf(await post(testServer.url, request, headers), 1)).toEqual({
      code: -32001,
      message: "Task not found",
      data: { reason: "TASK_NOT_FOUND", taskId: "task-1" },
    });
  }
});

it(
  seed.example("3.2 tasks/get › historyLength", "returns that many of the last messages; 0 returns none, not all"),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.status("one");
      await task.status("two");
    });
    await sendTask(testServer.url, taskParams("task-1", "zero"));
    await endedTask(testServer.url, "task-1");
    const historyOf = async (historyLength: number): Promise<unknown> => {
      const history = at(await getTask(testServer.url, "task-1", { historyLength }), "history");
      return Array.isArray(history) ? history.map((message) => at(message, "parts.0.text")) : history;
    };
    expect(await historyOf(10)).toEqual(["zero", "one", "two"]);
    expect(await historyOf(2)).toEqual(["one", "two"]);
    expect(await historyOf(0)).toBeUndefined();
  },
);

it(seed.example("3.3 tasks/cancel", "returns the canceled task"), async () => {
  await using testServer = await serveScript(async (task) => createGate().passed(task.signal));
  await sendTask(testServer.url, taskParams("task-1", "Hello"));
  const cancel = await post(testServer.url, rpcRequest(1, "tasks/cancel", { id: "task-1" }), IN_0_1);
  expect(resultOf(cancel, 1)).toMatchObject({
    id: "task-1",
    sessionId: "session-1",
    status: { state: "canceled", timestamp: TIME },
  });
});

it(
  seed.example(
    "3.3 tasks/cancel › refused",
    "a finished task cannot be canceled, nor a canceled task again; an unknown task is not found",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => (task.text === "ask" ? task.ask("And?") : "done"));
    const cancel = async (id: string) => post(testServer.url, rpcRequest(1, "tasks/cancel", { id }), IN_0_1);
    await sendTask(testServer.url, taskParams("task-1", "Hello"));
    await endedTask(testServer.url, "task-1");
    expect(errorOf(await cancel("task-1"), 1)).toMatchObject({
      code: -32002,
      data: { reason: "TASK_NOT_CANCELABLE", taskId: "task-1" },
    });
    await sendTask(testServer.url, taskParams("task-2", "ask"));
    resultOf(await cancel("task-2"), 1);
    expect(errorOf(await cancel("task-2"), 1)).toMatchObject({ code: -32002 });
    expect(errorOf(await cancel("task-3"), 1)).toMatchObject({ code: -32001 });
  },
);

it(
  seed.example("3 On failure › resource exhausted", "a task beyond the capacity is refused with the error code of 0.1"),
  async () => {
    const gate = createGate();
    await using testServer = await serveScript(async (task) => gate.passed(task.signal), { concurrency: 1, queue: 0 });
    await sendTask(testServer.url, taskParams("task-1", "Hello"));
    const answer = await post(testServer.url, rpcRequest(1, "tasks/send", taskParams("task-2", "Hello")));
    expect(errorOf(answer, 1)).toMatchObject({ code: -32011, data: { reason: "RESOURCE_EXHAUSTED" } });
    const later = { message: { role: "user", parts: [{ kind: "text", text: "Hello" }], messageId: "m" } };
    expect(errorOf(await post(testServer.url, rpcRequest(1, "message/send", later)), 1)).toMatchObject({
      code: -32053,
    });
    gate.open();
    await endedTask(testServer.url, "task-1");
  },
);
