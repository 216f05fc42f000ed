import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, openStream, post, streamed, textAt } from "../exchange.ts";
import { agentMessage, artifactUpdate, idsOf, statusUpdate, textPart } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { errorOf, resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";

const ORDER = "Process order #12345";

/** A message as in the examples: without `kind`. */
function order(more: object = {}): object {
  return { role: "user", parts: [textPart(ORDER)], messageId: crypto.randomUUID(), ...more };
}

const CONFIRMATION = { orderId: "12345", status: "confirmed", total: 299.99 };

/** An agent that processes an order after the caller has confirmed it. */
const clerk = (): Promise<TestServer> =>
  serveScript(async (task) => {
    await task.ask("Shall it be processed?");
    await task.artifact("order_confirmation.json").end(CONFIRMATION);
  });

/** Places an order, and returns the task that the seed's message then continues. */
async function placeOrder(testServer: TestServer): Promise<{ readonly taskId: string; readonly contextId: string }> {
  const request = rpcRequest("req-000", "message/send", { message: order({ contextId: "ctx-456" }) });
  return idsOf(resultOf(await post(testServer.url, request), "req-000"));
}

const send = (id: string, message: object, more: object = {}): object =>
  rpcRequest(id, "message/send", { message, metadata: {}, ...more });

it(
  seed.example(
    "1. message/send › Request",
    "a message with the task id continues the task, and waits because it requests that",
  ),
  async () => {
    await using testServer = await clerk();
    const ids = await placeOrder(testServer);
    expect(ids.contextId).toBe("ctx-456");
    const message = order({ messageId: "msg-123", ...ids });
    const task = resultOf(
      await post(testServer.url, send("req-001", message, { configuration: { blocking: true } })),
      "req-001",
    );
    expect(task).toMatchObject({ kind: "task", id: ids.taskId, contextId: "ctx-456", status: { state: "completed" } });
  },
);

it(
  seed.example(
    "1. message/send › Response (Task)",
    "a send that does not wait returns the working task: no artifacts, and all messages so far",
  ),
  async () => {
    const [gate, begun] = [createGate(), createGate()];
    await using testServer = await serveScript(async (task) => {
      await task.flush();
      begun.open();
      await gate.passed(task.signal);
    });
    const configuration = { blocking: false };
    const first = order();
    const ids = idsOf(resultOf(await post(testServer.url, send("req-000", first, { configuration })), "req-000"));
    await begun.passed(new AbortController().signal);
    const message = order({ messageId: "msg-123", ...ids });
    expect(resultOf(await post(testServer.url, send("req-001", message, { configuration })), "req-001")).toEqual({
      kind: "task",
      id: ids.taskId,
      contextId: ids.contextId,
      status: { state: "working", timestamp: TIME },
      artifacts: [],
      history: [{ kind: "message", ...first, ...ids }],
    });
  },
);

it(
  seed.example(
    "1. message/send › Response (Message)",
    "an agent may answer with a message in the caller's context, without a task",
  ),
  async () => {
    const answer = "Order #12345 has been processed successfully";
    await using testServer = await serveScript(async () => "never", { reply: () => answer });
    const request = send("req-001", order({ contextId: "ctx-456" }));
    expect(resultOf(await post(testServer.url, request), "req-001")).toEqual({
      kind: "message",
      role: "agent",
      parts: [textPart(answer)],
      messageId: ID,
      contextId: "ctx-456",
    });
  },
);

it(seed.example("2. tasks/get › Request", "returns the requested number of the latest messages"), async () => {
  await using testServer = await clerk();
  const { taskId: id } = await placeOrder(testServer);
  const historyOf = async (historyLength?: number): Promise<unknown> => {
    const params = historyLength === undefined ? { id } : { id, historyLength };
    return at(resultOf(await post(testServer.url, rpcRequest("req-002", "tasks/get", params)), "req-002"), "history");
  };
  const all = await historyOf();
  expect(all).toMatchObject([{ role: "user" }, { role: "agent" }]);
  expect(await historyOf(10)).toEqual(all);
  expect(await historyOf(1)).toEqual([at(all, "1")]);
});

it(seed.example("2. tasks/get › Response", "the finished task has `kind`, and its data in an artifact"), async () => {
  await using testServer = await clerk();
  const ids = await placeOrder(testServer);
  const [first, second] = [order(), order({ ...ids })];
  const sent = resultOf(await post(testServer.url, send("req-001", second)), "req-001");
  const task = resultOf(await post(testServer.url, rpcRequest("req-002", "tasks/get", { id: ids.taskId })), "req-002");
  expect(task).toEqual(sent);
  expect(task).toEqual({
    kind: "task",
    id: ids.taskId,
    contextId: "ctx-456",
    status: { state: "completed", timestamp: TIME },
    artifacts: [
      {
        artifactId: ID,
        name: "order_confirmation.json",
        parts: [{ kind: "data", data: CONFIRMATION }],
      },
    ],
    history: [
      { kind: "message", ...first, ...ids, messageId: ID },
      expect.objectContaining({ role: "agent", ...ids }),
      { kind: "message", ...second },
    ],
  });
});

it(
  seed.example("3. tasks/cancel › Request", "a finished task cannot be canceled; an unknown task is not found"),
  async () => {
    await using testServer = await serveScript(async () => "done");
    const { taskId } = idsOf(resultOf(await post(testServer.url, send("req-001", order())), "req-001"));
    const cancel = (id: string) => post(testServer.url, rpcRequest("req-003", "tasks/cancel", { id }));
    expect(errorOf(await cancel(taskId), "req-003")).toMatchObject({
      code: -32002,
      data: { reason: "TASK_NOT_CANCELABLE" },
    });
    expect(errorOf(await cancel("task-789"), "req-003")).toMatchObject({ code: -32001 });
  },
);

it(seed.example("3. tasks/cancel › Response", "returns the task with state canceled (one l) and `kind`"), async () => {
  await using testServer = await clerk();
  const ids = await placeOrder(testServer);
  const cancel = rpcRequest("req-003", "tasks/cancel", { id: ids.taskId });
  const task = resultOf(await post(testServer.url, cancel), "req-003");
  expect(task).toEqual({
    kind: "task",
    id: ids.taskId,
    contextId: "ctx-456",
    status: expect.objectContaining({ state: "canceled", timestamp: TIME }),
    artifacts: [],
    history: expect.arrayContaining([expect.objectContaining({ role: "user", ...ids })]),
  });
  // In this version a second cancel is an error.
  expect(errorOf(await post(testServer.url, cancel), "req-003")).toMatchObject({ code: -32002 });
});

const NOTICE = "Processing your request...";

/** An agent that sends a status and returns a text. */
const worker = (): Promise<TestServer> =>
  serveScript(async (task) => {
    await task.status(NOTICE);
    await task.artifact("result.txt").end("Processing...");
  });

/** The events of that agent's stream after its opening. */
const workerEvents = (ids: { readonly taskId: string; readonly contextId: string }): readonly unknown[] => [
  statusUpdate(ids, "working", { message: agentMessage(ids, NOTICE) }),
  artifactUpdate(ids, { artifactId: ID, name: "result.txt", parts: [textPart("Processing...")] }, { lastChunk: true }),
  statusUpdate(ids, "completed", { final: true }),
];

it(
  seed.example(
    "4. message/stream",
    "the submitted task, then its events; each frame has a growing id and no event name",
  ),
  async () => {
    await using testServer = await worker();
    const frames = await streamed(testServer.url, rpcRequest("req-004", "message/stream", { message: order() }));
    const [opening, working, ...events] = resultsOf(frames, "req-004");
    const ids = idsOf(opening);
    expect(opening).toMatchObject({ kind: "task", status: { state: "submitted", timestamp: TIME }, history: [ids] });
    expect(working).toEqual(statusUpdate(ids, "working"));
    expect(events).toEqual(workerEvents(ids));
    const numbers = frames.map(({ id }) => Number(id));
    expect(numbers).toEqual(numbers.map((_, index) => index));
    for (const { event } of frames) expect([undefined, "message"]).toContain(event);
  },
);

it(
  seed.example(
    "4. message/stream › error event",
    "a failure of the server is one event named error, with an envelope and without details",
  ),
  async () => {
    await using testServer = await serveScript(async () => "never", {
      reply() {
        throw new Error("password=1234");
      },
    });
    const frames = await streamed(testServer.url, rpcRequest("req-004", "message/stream", { message: order() }));
    expect(frames.map(({ event, json }) => ({ event, json }))).toEqual([
      {
        event: "error",
        json: {
          jsonrpc: "2.0",
          id: "req-004",
          error: { code: -32603, message: expect.not.stringContaining("1234"), data: { reason: "INTERNAL" } },
        },
      },
    ]);
  },
);

it(seed.example("5. tasks/resubscribe", "the current task, then the same events in the same format"), async () => {
  const gate = createGate();
  await using testServer = await serveScript(async (task) => {
    await gate.passed(task.signal);
    await task.status(NOTICE);
    await task.artifact("result.txt").end("Processing...");
  });
  const first = await openStream(testServer.url, rpcRequest("req-004", "message/stream", { message: order() }));
  const opening = (await first.until((data) => at(data, "result.status.state") === "working"))[0];
  await first.close();
  const ids = idsOf(at(opening?.json, "result"));
  const again = await openStream(testServer.url, rpcRequest("req-005", "tasks/resubscribe", { id: ids.taskId }));
  const current = await again.next();
  gate.open();
  const rest = await again.rest();
  expect(resultsOf(current === undefined ? [] : [current], "req-005")).toMatchObject([
    { kind: "task", id: ids.taskId, contextId: ids.contextId, status: { state: "working" } },
  ]);
  expect(resultsOf(rest, "req-005")).toEqual(workerEvents(ids));
  expect(rest.map(({ id }) => Number(id))).toEqual([2, 3, 4]);
  expect(textAt(rest[0]?.json, "result.status.message.messageId")).not.toBe("");
});
