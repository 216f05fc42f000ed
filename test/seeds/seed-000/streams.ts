import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, openStream, post, streamed } from "../exchange.ts";
import { TIME } from "../matchers.ts";
import { resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, serveScript, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, getTask, IN_0_1, taskParams } from "./tasks.ts";

/** An agent that writes two artifacts, the first in two chunks. */
const serveWriter = (): Promise<TestServer> =>
  serveScript(async (task) => {
    const draft = task.artifact("draft");
    await draft.write("one ");
    await draft.end("two");
    await task.artifact("summary").end("three");
  });

const SUBSCRIBE = rpcRequest(7, "tasks/sendSubscribe", taskParams("task-1", "Write"));

const text = (words: string) => [{ type: "text", text: words }];
const status = (state: string, final = false) => ({ id: "task-1", status: { state, timestamp: TIME }, final });

/** The events of that agent's stream, in envelopes with `jsonrpc`. */
const WRITTEN: readonly (readonly [name: string, result: object])[] = [
  ["status", status("submitted")],
  ["status", status("working")],
  ["artifact", { id: "task-1", artifact: { index: 0, name: "draft", parts: text("one ") } }],
  ["artifact", { id: "task-1", artifact: { index: 0, parts: text("two"), append: true, lastChunk: true } }],
  ["artifact", { id: "task-1", artifact: { index: 1, name: "summary", parts: text("three"), lastChunk: true } }],
  ["status", status("completed", true)],
];

it(
  seed.example(
    "4.1 SSE endpoint › stream",
    "at /subscribe, events named status and artifact are whole envelopes; the stream ends with the final event",
  ),
  async () => {
    await using testServer = await serveWriter();
    const stream = await openStream(`${testServer.url}/subscribe`, SUBSCRIBE);
    expect(stream.response.headers.get("cache-control")).toBe("no-cache");
    const frames = await stream.rest();
    const results = resultsOf(frames, 7);
    expect(frames.map(({ event }, index) => [event, results[index]])).toEqual(WRITTEN);
  },
);

it(seed.example("4.1 SSE endpoint › other methods", "/subscribe answers them like the main URL"), async () => {
  await using testServer = await serveWriter();
  const send = await post(`${testServer.url}/subscribe`, rpcRequest(1, "tasks/send", taskParams("task-1", "Write")));
  expect(at(resultOf(send, 1), "id")).toBe("task-1");
  await endedTask(testServer.url, "task-1");
  const got = await post(`${testServer.url}/subscribe`, rpcRequest(2, "tasks/get", { id: "task-1" }), IN_0_1);
  expect(at(resultOf(got, 2), "status.state")).toBe("completed");
});

it(
  seed.example("4.1 SSE endpoint › sendSubscribe at the main URL", "is the same stream, with unnamed events"),
  async () => {
    await using testServer = await serveWriter();
    const frames = await streamed(testServer.url, SUBSCRIBE);
    expect(resultsOf(frames, 7)).toEqual(WRITTEN.map(([, result]) => result));
    expect(frames.map(({ event }) => event)).toEqual(frames.map(() => undefined));
  },
);

it(seed.example("4.1 SSE endpoint › client disconnect", "the task continues without readers"), async () => {
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
  const stream = await openStream(`${testServer.url}/subscribe`, SUBSCRIBE);
  await stream.next();
  await stream.close();
  await hungUp.passed(new AbortController().signal);
  gate.open();
  expect(at(await endedTask(testServer.url, "task-1"), "status.state")).toBe("completed");
});

it(
  seed.example("4.3 Events of every transition", "a reader receives each state and each chunk, in order"),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.status("Thinking");
      await task.ask("Really?");
      await task.artifact("answer").end("yes");
      throw new Error("And then it broke");
    });
    const eventsOf = async (words: string): Promise<readonly unknown[]> => {
      const request = rpcRequest(1, "tasks/sendSubscribe", taskParams("task-1", words));
      const results = resultsOf(await streamed(`${testServer.url}/subscribe`, request), 1);
      return results.map((result) => [at(result, "status.state") ?? at(result, "artifact.name"), at(result, "final")]);
    };
    expect(await eventsOf("Begin")).toEqual([
      ["submitted", false],
      ["working", false],
      ["working", false],
      ["input-required", true],
    ]);
    const [, ...rest] = await eventsOf("Really");
    expect(rest).toEqual([
      ["working", false],
      ["answer", undefined],
      ["failed", true],
    ]);
  },
);

it(seed.example("4 On failure › tasks/get", "a client that lost the stream reads the task"), async () => {
  await using testServer = await serveWriter();
  const stream = await openStream(`${testServer.url}/subscribe`, SUBSCRIBE);
  await stream.next();
  await stream.close();
  await endedTask(testServer.url, "task-1");
  expect(await getTask(testServer.url, "task-1")).toMatchObject({
    status: { state: "completed" },
    artifacts: [
      { index: 0, name: "draft", parts: text("one two") },
      { index: 1, name: "summary", parts: text("three") },
    ],
  });
});

it(
  seed.example(
    "4 On failure › tasks/resubscribe",
    "a client that lost the stream subscribes again: it receives the current status and artifacts, then new events",
  ),
  async () => {
    const gate = createGate();
    await using testServer = await serveScript(async (task) => {
      const draft = task.artifact("draft");
      await draft.write("one ");
      await task.flush();
      await gate.passed(task.signal);
      await draft.end("two");
    });
    const stream = await openStream(`${testServer.url}/subscribe`, SUBSCRIBE);
    await stream.until((data) => at(data, "result.artifact") !== undefined);
    await stream.close();
    const again = await openStream(
      `${testServer.url}/subscribe`,
      rpcRequest(8, "tasks/resubscribe", { id: "task-1" }),
      IN_0_1,
    );
    const first = await again.until((data) => at(data, "result.artifact") !== undefined);
    gate.open();
    const results = resultsOf([...first, ...(await again.rest())], 8);
    expect(results).toEqual([
      status("working"),
      { id: "task-1", artifact: { index: 0, name: "draft", parts: text("one ") } },
      { id: "task-1", artifact: { index: 0, parts: text("two"), append: true, lastChunk: true } },
      status("completed", true),
    ]);
  },
);
