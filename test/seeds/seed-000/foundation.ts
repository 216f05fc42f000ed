import { expect, it } from "vitest";
import { at, get, post, streamed, textAt } from "../exchange.ts";
import { printedText } from "../printed/run.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, IN_0_1, sendTask, taskParams } from "./tasks.ts";

const done = async () => "done";

it(seed.example("1.2 JSON-RPC handler › the four methods", "one URL answers all four"), async () => {
  await using testServer = await serveScript(async (task) => task.ask("And?"));
  const sent = await sendTask(testServer.url, taskParams("task-1", "Hello"));
  expect(at(sent, "id")).toBe("task-1");
  const got = resultOf(await post(testServer.url, rpcRequest(2, "tasks/get", { id: "task-1" })), 2);
  expect(at(got, "id")).toBe("task-1");
  const frames = await streamed(testServer.url, rpcRequest(3, "tasks/sendSubscribe", taskParams("task-2", "Hello")));
  expect(at(frames.at(-1)?.json, "result.status.state")).toBe("input-required");
  const canceled = resultOf(await post(testServer.url, rpcRequest(4, "tasks/cancel", { id: "task-1" })), 4);
  expect(at(canceled, "status.state")).toBe("canceled");
});

it(
  seed.example("1.2 JSON-RPC handler › unknown method", 'the error is "method not found" and names the method'),
  async () => {
    await using testServer = await serveScript(done);
    const error = errorOf(await post(testServer.url, rpcRequest(1, "tasks/forget", {})), 1);
    expect(error).toEqual({
      code: -32601,
      message: "Method not found",
      data: { reason: "METHOD_NOT_FOUND", method: "tasks/forget" },
    });
  },
);

it(
  seed.example("1.3 POST endpoint", "accepts POST at /, with and without a trailing slash, and at other common paths"),
  async () => {
    await using testServer = await serveScript(done);
    for (const path of ["", "/", "/a2a", "/a2a/", "/api/a2a", "/subscribe"]) {
      const answer = await post(
        testServer.url + path,
        rpcRequest(path, "tasks/send", taskParams(`task ${path}`, "Hello")),
      );
      expect(at(resultOf(answer, path), "id")).toBe(`task ${path}`);
    }
  },
);

it(seed.example("1.4 Agent Card", "the card is at /.well-known/agent.json in the format of 0.1"), async () => {
  const skill = { id: "analyze", name: "Analyze", description: "Looks at data.", tags: ["data"] };
  await using testServer = await serveScript(done, {
    skills: [skill],
    provider: { organization: "Example", url: "https://example.org" },
  });
  const { json } = await get(`${testServer.url}/.well-known/agent.json`);
  expect(json).toMatchObject({
    name: "Scripted",
    description: "Does as its script says.",
    version: "1.0.0",
    capabilities: { streaming: true },
    provider: { organization: "Example", url: "https://example.org" },
    defaultInputModes: expect.any(Array),
    defaultOutputModes: expect.any(Array),
    skills: [skill],
  });
  expect(at(json, "capabilities.pushNotifications")).toBe(true);
  const sent = await sendTask(textAt(json, "url"), taskParams("task-1", "Hello"));
  expect(at(sent, "id")).toBe("task-1");
});

it(seed.example("1 On failure › -32700", "malformed JSON is a parse error"), async () => {
  await using testServer = await serveScript(done);
  const { json } = await post(testServer.url, '{"jsonrpc":"2.0","id":1,"method":"tasks/send",');
  expect(json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
});

it(
  seed.example("1 On failure › -32600", "a request without a required member is invalid and starts no run"),
  async () => {
    let runs = 0;
    await using testServer = await serveScript(async () => {
      runs += 1;
    });
    const { jsonrpc, id, method, params } = {
      jsonrpc: "2.0",
      id: 1,
      method: "tasks/send",
      params: taskParams("task-1", "Hello"),
    };
    expect(errorOf(await post(testServer.url, { id, method, params }), 1)).toMatchObject({ code: -32600 });
    expect(errorOf(await post(testServer.url, { jsonrpc, id, params }), 1)).toMatchObject({ code: -32600 });
    expect(errorOf(await post(testServer.url, { jsonrpc, method, params }), null)).toMatchObject({ code: -32600 });
    expect(runs).toBe(0);
  },
);

it(seed.example("6.2 CORS", "pages of every origin may read the card, with GET and OPTIONS"), async () => {
  await using testServer = await serveScript(done);
  const url = `${testServer.url}/.well-known/agent.json`;
  const card = await get(url, { origin: "https://elsewhere.example" });
  expect(card.headers.get("access-control-allow-origin")).toBe("*");
  const preflight = await fetch(url, {
    method: "OPTIONS",
    headers: { origin: "https://elsewhere.example", "access-control-request-method": "GET" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  expect(preflight.headers.get("access-control-allow-methods")).toContain("GET");
});

it(seed.example("6.4 End to end › card", "a client finds the agent by its card"), async () => {
  await using testServer = await serveScript(done);
  const card = await get(`${testServer.url}/.well-known/agent.json`);
  expect([card.status, card.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(textAt(card.json, "name")).toBe("Scripted");
});

it(seed.example("6.4 End to end › tasks/send", "a task with that id is created and completes"), async () => {
  await using testServer = await serveScript(async (task) => `Analyzed: ${task.text}`);
  const [, body] = /-d '(.*)'/.exec(printedText("000-end-to-end.txt")) ?? [];
  const sent = resultOf(await post(`${testServer.url}/`, body), 1);
  expect(sent).toMatchObject({ id: "task-1", sessionId: "session-1" });
  expect(["submitted", "working", "completed"]).toContain(at(sent, "status.state"));
  expect(await endedTask(testServer.url, "task-1")).toMatchObject({
    id: "task-1",
    sessionId: "session-1",
    status: { state: "completed" },
    artifacts: [{ index: 0, parts: [{ type: "text", text: "Analyzed: Analyze my dataset" }] }],
  });
  const again = await post(testServer.url, rpcRequest(5, "tasks/get", { id: "task-1" }), IN_0_1);
  expect(at(resultOf(again, 5), "sessionId")).toBe("session-1");
});
