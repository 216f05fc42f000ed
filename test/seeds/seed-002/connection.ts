import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, openStream, post, streamed, textAt } from "../exchange.ts";
import { agentMessage, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { TIME } from "../matchers.ts";
import { resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

/** Starts a task without waiting, and returns its id. */
async function begin(url: string): Promise<string> {
  const params = { message: userMessage("Take your time"), configuration: { blocking: false } };
  return textAt(resultOf(await post(url, rpcRequest(1, "message/send", params)), 1), "id");
}

it(
  seed.example(
    "Task Resubscription › Request",
    "`taskId` is accepted as the id; a caller that accepts JSON receives the task as JSON",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done");
    const sent = resultOf(
      await post(testServer.url, rpcRequest(1, "message/send", { message: userMessage("Do it") })),
      1,
    );
    const { taskId } = idsOf(sent);
    for (const accept of [undefined, "application/json, text/event-stream", "*/*"]) {
      const headers = accept === undefined ? {} : { accept };
      const answer = await post(`${testServer.url}/api/a2a`, rpcRequest(4, "tasks/get", { taskId }), headers);
      expect(resultOf(answer, 4)).toEqual(sent);
    }
  },
);

it(
  seed.example(
    "Task Resubscription › Response",
    "a caller that accepts only events receives the current task and then new events",
  ),
  async () => {
    const [gate, said] = [createGate(), createGate()];
    await using testServer = await serveScript(async (task) => {
      await task.status("Processing...");
      await task.flush();
      said.open();
      await gate.passed(task.signal);
      return "done";
    });
    const taskId = await begin(testServer.url);
    await said.passed(new AbortController().signal);
    const stream = await openStream(`${testServer.url}/api/a2a`, rpcRequest(4, "tasks/get", { taskId }));
    const first = await stream.next();
    gate.open();
    const results = resultsOf([...(first === undefined ? [] : [first]), ...(await stream.rest())], 4);
    const ids = idsOf(results[0]);
    expect(ids.taskId).toBe(taskId);
    expect(results[0]).toMatchObject({
      kind: "task",
      status: { state: "working", message: agentMessage(ids, "Processing..."), timestamp: TIME },
    });
    expect(results.slice(1)).toMatchObject([
      { kind: "artifact-update", ...ids, artifact: { parts: [textPart("done")] }, lastChunk: true },
      statusUpdate(ids, "completed", { final: true }),
    ]);
  },
);

it(
  seed.example(
    "Timeout Handling › 1 Continue without the result",
    "an agent may continue without an answer to its question",
  ),
  async () => {
    const gate = createGate();
    await using testServer = await serveScript(async (task) => {
      const answer = await task.ask("Which format?", { timeout: 1, onTimeout: "continue" });
      await gate.passed(task.signal);
      if (answer === undefined) await task.status("Continuing without client input...");
      return "done";
    });
    const taskId = await begin(testServer.url);
    const stream = await openStream(testServer.url, rpcRequest(1, "tasks/resubscribe", { id: taskId }));
    gate.open();
    const results = resultsOf(await stream.rest(), 1);
    const ids = idsOf(results[0]);
    const message = agentMessage(ids, "Continuing without client input...");
    expect(results).toContainEqual(statusUpdate(ids, "working", { message }));
    expect(results.at(-1)).toEqual(statusUpdate(ids, "completed", { final: true }));
  },
);

it(
  seed.example(
    "Timeout Handling › 2 Fail the task",
    "the task fails and says after how long; the call that received the question ended before",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.ask("Which format?", { timeout: 1 });
    });
    const taskId = await begin(testServer.url);
    // The stream ends with the task, whether the task ended before or not.
    await streamed(testServer.url, rpcRequest(1, "tasks/resubscribe", { id: taskId }));
    const task = resultOf(await post(testServer.url, rpcRequest(2, "tasks/get", { id: taskId })), 2);
    const details = { kind: "data", data: { taskId, timeoutSeconds: 0.001 } };
    expect(at(task, "status")).toEqual({
      state: "failed",
      message: agentMessage(idsOf(task), "", { parts: [textPart("Input timeout"), details] }),
      timestamp: TIME,
    });
  },
);
