import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, openStream, post, streamed } from "../exchange.ts";
import { idsOf, statusUpdate, userMessage } from "../kinds.ts";
import { TIME } from "../matchers.ts";
import { errorOf, resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const send = (message: object, more: object = {}): object => rpcRequest(1, "message/send", { message, ...more });

it(
  seed.example(
    "7.2. message/stream › initial subscription failure",
    "an agent that does not stream answers with an error envelope, and creates no task",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      let runs = 0;
      const script = async () => {
        runs += 1;
      };
      await using testServer = await serveScript(script, { capabilities: { streaming: false } }, options);
      const answer = await post(testServer.url, rpcRequest(1, "message/stream", { message: userMessage("Hello") }));
      expect(errorOf(answer, 1)).toMatchObject({ code: -32004 });
      expect(runs).toBe(0);
    }
  },
);

it(seed.example("7.3. tasks/get", "returns the task with at most that many messages, and none for 0"), async () => {
  for (const options of EITHER_WAY) {
    await using testServer = await serveScript(async (task) => task.ask("And?"), {}, options);
    const { taskId: id } = idsOf(resultOf(await post(testServer.url, send(userMessage("Hello"))), 1));
    const historyOf = async (historyLength: number) =>
      at(resultOf(await post(testServer.url, rpcRequest(2, "tasks/get", { id, historyLength })), 2), "history");
    expect(await historyOf(5)).toHaveLength(2);
    expect(await historyOf(1)).toMatchObject([{ role: "agent" }]);
    expect(await historyOf(0)).toBeUndefined();
  }
});

it(seed.example("7.4. tasks/cancel", "returns the canceled task"), async () => {
  for (const options of EITHER_WAY) {
    await using testServer = await serveScript(async (task) => task.ask("And?"), {}, options);
    const { taskId: id } = idsOf(resultOf(await post(testServer.url, send(userMessage("Hello"))), 1));
    const task = resultOf(await post(testServer.url, rpcRequest(2, "tasks/cancel", { id, metadata: {} })), 2);
    expect(task).toMatchObject({ kind: "task", id, status: { state: "canceled", timestamp: TIME } });
  }
});

it(seed.example("7.9. tasks/resubscribe", "sends the current task, then new events"), async () => {
  for (const options of EITHER_WAY) {
    const gate = createGate();
    await using testServer = await serveScript(async (task) => gate.passed(task.signal), {}, options);
    const configuration = { blocking: false };
    const ids = idsOf(resultOf(await post(testServer.url, send(userMessage("Hello"), { configuration })), 1));
    const stream = await openStream(testServer.url, rpcRequest("again", "tasks/resubscribe", { id: ids.taskId }));
    const first = await stream.next();
    gate.open();
    const results = resultsOf([...(first === undefined ? [] : [first]), ...(await stream.rest())], "again");
    expect(results[0]).toMatchObject({ kind: "task", id: ids.taskId, contextId: ids.contextId });
    expect(results.at(-1)).toEqual(statusUpdate(ids, "completed", { final: true }));
  }
});

it(
  seed.example(
    "7.9. tasks/resubscribe › failure",
    "an unknown task gets an error envelope; a finished task is sent once and the stream ends",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async () => "done", {}, options);
      const unknown = await post(testServer.url, rpcRequest(1, "tasks/resubscribe", { id: "nowhere" }));
      expect(errorOf(unknown, 1)).toMatchObject({ code: -32001 });
      const task = resultOf(await post(testServer.url, send(userMessage("Hello"))), 1);
      const frames = await streamed(testServer.url, rpcRequest(2, "tasks/resubscribe", { id: idsOf(task).taskId }));
      expect(resultsOf(frames, 2)).toEqual([task]);
    }
  },
);
