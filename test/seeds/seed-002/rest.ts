import { concat, defer, from, of } from "rxjs";
import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { OtlpReceiver } from "../../fixtures/otlp-receiver.ts";
import { at, get, openStream, post, streamed, textAt } from "../exchange.ts";
import { artifactUpdate, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

const WANTS_0_3 = { "a2a-version": "0.3" };

/** An event with a copy of itself as `result`, for clients that also read JSON-RPC. */
const mirrored = (event: object): object => ({ ...event, result: event });

it(
  seed.example("W3C Trace Context", "events carry the trace id of the caller and the span id of the run"),
  async () => {
    await using testServer = await serveScript(async () => "done");
    const frames = await streamed(
      `${testServer.url}/v1/message:stream`,
      { message: userMessage("Hello") },
      { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "vendor=value" },
    );
    const ids = idsOf(frames[0]?.json);
    const spanId = textAt(frames[1]?.json, "metadata.spanId");
    expect(spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect(spanId).not.toBe("00f067aa0ba902b7");
    const metadata = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId };
    expect(frames[1]?.json).toEqual(mirrored(statusUpdate(ids, "working", { metadata })));
    expect(frames.slice(2).map(({ json }) => at(json, "metadata"))).toEqual([metadata, metadata]);
  },
);

it(
  seed.example(
    "W3C Trace Context › the exported span",
    "the span id of the events is that of the run's exported span, and Tracestate is kept",
  ),
  async () => {
    await using collector = await OtlpReceiver.open();
    const testServer = await serveScript(async () => "done", {}, { otlp: collector.url });
    const frames = await streamed(
      `${testServer.url}/v1/message:stream`,
      { message: userMessage("Hello") },
      { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "vendor=value" },
    );
    await testServer.server.close();
    const run = collector.spans.find(({ name }) => name.startsWith("invoke_agent"));
    expect(run).toMatchObject({ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", traceState: "vendor=value" });
    expect(textAt(frames[1]?.json, "metadata.spanId")).toBe(run?.spanId);
    const call = collector.spans.find(({ spanId }) => spanId === run?.parentSpanId);
    expect(call).toMatchObject({ name: "SendStreamingMessage", parentSpanId: "00f067aa0ba902b7" });
  },
);

it(
  seed.example("Integration with RxJS Agent › 4 Observability", "each A2A event is an event of a span, with its state"),
  async () => {
    await using collector = await OtlpReceiver.open();
    const testServer = await serveScript(() => from(["Sales ", "went up"]), {}, { otlp: collector.url });
    await streamed(`${testServer.url}/v1/message:stream`, { message: userMessage("Analyze sales data") });
    await testServer.server.close();
    const run = collector.spans.find(({ name }) => name.startsWith("invoke_agent"));
    const events = run?.events.map(({ name, attributes }) => [name, attributes["a2a.task.state"]]);
    const chunks = events?.filter(([name]) => name === "a2a.task.artifact") ?? [];
    expect(chunks.length).toBeGreaterThan(0);
    expect(events).toEqual([
      ["a2a.task.status", "TASK_STATE_WORKING"],
      ...chunks,
      ["a2a.task.status", "TASK_STATE_COMPLETED"],
    ]);
  },
);

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › message:stream",
    "the values of an Observable are streamed as bare events, like the printed server's, each with a copy as `result`",
  ),
  async () => {
    await using testServer = await serveScript(() => from(["Sales ", "went ", "up"]));
    const message = userMessage("Analyze sales data", { contextId: "ctx-1" });
    const stream = await openStream(`${testServer.url}/v1/message:stream`, { message });
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get("cache-control")).toBe("no-cache");
    const frames = await stream.rest();
    const ids = idsOf(frames[0]?.json);
    const artifactId = textAt(frames[2]?.json, "artifact.artifactId");
    expect(ids.contextId).toBe("ctx-1");
    const events = [
      {
        kind: "task",
        id: ids.taskId,
        contextId: "ctx-1",
        status: { state: "submitted", timestamp: TIME },
        history: [{ ...message, taskId: ids.taskId }],
      },
      statusUpdate(ids, "working"),
      artifactUpdate(ids, { artifactId, name: "result", parts: [textPart("Sales ")] }),
      artifactUpdate(ids, { artifactId, parts: [textPart("went ")] }, { append: true }),
      artifactUpdate(ids, { artifactId, parts: [textPart("up")] }, { append: true, lastChunk: true }),
      statusUpdate(ids, "completed", { final: true }),
    ];
    expect(frames.map(({ json }) => json)).toEqual(events.map(mirrored));
    for (const { data } of frames) expect(data).toMatch(/^\{"kind":/);
  },
);

const FAILS = () =>
  concat(
    of("a piece"),
    defer(() => {
      throw new Error("password=1234");
    }),
  );

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › message:stream fails",
    "the last event says that the task failed, without exposing the exception",
  ),
  async () => {
    await using testServer = await serveScript(FAILS);
    const frames = await streamed(`${testServer.url}/v1/message:stream`, { message: userMessage("Fail") });
    expect(frames.at(-1)?.json).toMatchObject({ status: { state: "failed" }, final: true });
    expect(frames.map(({ data }) => data).join()).not.toContain("1234");
  },
);

it(seed.example("Server (TypeScript/Express + RxJS) › keep-alive", "comments keep a silent stream open"), async () => {
  const gate = createGate();
  const agent = scripted((task) => gate.passed(task.signal));
  await using testServer = await serveAgents(agent, { heartbeat: 5 });
  const response = await fetch(`${testServer.url}/v1/message:stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: userMessage("Wait") }),
  });
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (/^:[^\n]*\n\n/m.test(text)) gate.open();
  }
  expect(text).toMatch(/^:[^\n]*\n\n/m);
  expect(text).toContain('"state":"completed"');
});

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › client disconnect",
    "a reader that disconnects does not cancel the task",
  ),
  async () => {
    const [gate, hungUp] = [createGate(), createGate()];
    const agent = scripted(async (task) => {
      await gate.passed(task.signal);
      return "done";
    });
    await using testServer = await serveAgents(agent, {
      on: {
        call({ operation }) {
          if (operation === "stream") hungUp.open();
        },
      },
    });
    const stream = await openStream(`${testServer.url}/v1/message:stream`, { message: userMessage("Take your time") });
    const id = textAt((await stream.next())?.json, "id");
    await stream.close();
    await hungUp.passed(new AbortController().signal);
    const task = await get(`${testServer.url}/v1/tasks/${id}`, WANTS_0_3);
    expect(at(task.json, "status.state")).toBe("working");
    const again = await openStream(`${testServer.url}/v1/tasks/${id}:subscribe`, "", WANTS_0_3);
    gate.open();
    await again.rest();
    const done = await get(`${testServer.url}/v1/tasks/${id}`, WANTS_0_3);
    expect(at(done.json, "status.state")).toBe("completed");
  },
);

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › message:send",
    "returns the finished task with its artifacts, without an envelope",
  ),
  async () => {
    await using testServer = await serveScript(() => from(["Quick ", "answer"]));
    const message = userMessage("Quick question", { messageId: "msg-1" });
    const answer = await post(`${testServer.url}/v1/message:send`, { message });
    expect(answer.status).toBe(200);
    const ids = idsOf(answer.json);
    expect(answer.json).toEqual({
      kind: "task",
      id: ids.taskId,
      contextId: ids.contextId,
      status: { state: "completed", timestamp: TIME },
      artifacts: [{ artifactId: ID, name: "result", parts: [textPart("Quick answer")] }],
      history: [{ ...message, ...ids }],
    });
  },
);

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › message:send fails",
    "a failed task is a regular response; only an invalid request is an error, bare as in 0.3 and as `error`",
  ),
  async () => {
    await using testServer = await serveScript(FAILS);
    const answer = await post(`${testServer.url}/v1/message:send`, { message: userMessage("Fail") });
    expect([answer.status, at(answer.json, "status.state")]).toEqual([200, "failed"]);
    expect(answer.text).not.toContain("1234");
    const wrong = await post(`${testServer.url}/v1/message:send`, { message: userMessage("", { parts: [] }) });
    expect(wrong.status).toBe(400);
    const error = { code: -32602, message: "message.parts: must have at least one part" };
    expect(wrong.json).toMatchObject({ ...error, error });
  },
);

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › message:send names its task",
    "only existing task ids are accepted; a request that states 0.2 may choose the id of a new task",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done");
    const message = userMessage("Hello", { taskId: "task-of-the-client" });
    const rest = await post(`${testServer.url}/v1/message:send`, { message });
    expect(rest.status).toBe(404);
    expect(rest.json).toMatchObject({ code: -32001, data: { taskId: "task-of-the-client" } });
    const send = rpcRequest(1, "message/send", { message });
    expect(errorOf(await post(testServer.url, send), 1)).toMatchObject({ code: -32001 });
    const task = resultOf(await post(testServer.url, send, { "a2a-version": "0.2" }), 1);
    expect(task).toMatchObject({ kind: "task", id: "task-of-the-client", status: { state: "completed" } });
  },
);
