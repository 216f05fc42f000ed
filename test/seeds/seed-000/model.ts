import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, post, streamed } from "../exchange.ts";
import { TIME } from "../matchers.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, getTask, IN_0_1, sendTask, taskParams } from "./tasks.ts";

it(
  seed.example("2.1 Task model › Task", "has the members of 0.1 and no others, if the request states that version"),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.status("Half done");
      await task.artifact("report", { description: "What came of it." }).end("All done");
    });
    await sendTask(testServer.url, taskParams("task-1", "Begin"));
    await endedTask(testServer.url, "task-1");
    expect(await getTask(testServer.url, "task-1", { historyLength: 10 })).toEqual({
      id: "task-1",
      sessionId: "session-1",
      status: { state: "completed", timestamp: TIME },
      artifacts: [
        { index: 0, name: "report", description: "What came of it.", parts: [{ type: "text", text: "All done" }] },
      ],
      history: [
        { role: "user", parts: [{ type: "text", text: "Begin" }] },
        { role: "agent", parts: [{ type: "text", text: "Half done" }] },
      ],
    });
  },
);

it(seed.example("2.1 Task model › Part", "texts, files and data are received and sent unchanged"), async () => {
  await using testServer = await serveScript(async (task) => task.message.parts, { outputModes: ["*/*"] });
  const parts = [
    { type: "text", text: "Hello" },
    { type: "file", file: { name: "a.txt", mimeType: "text/plain", bytes: "SGVsbG8=" } },
    { type: "file", file: { name: "b.txt", mimeType: "text/plain", uri: "https://example.org/b.txt" } },
    { type: "data", data: { answer: 42 } },
  ];
  await sendTask(testServer.url, taskParams("task-1", "", { message: { role: "user", parts } }));
  const task = await endedTask(testServer.url, "task-1");
  expect(at(task, "artifacts.0.parts")).toEqual(parts);
});

/** An agent that follows the command in the message, and asks a question if it knows no such command. */
const serveObedient = (): Promise<TestServer> =>
  serveScript(
    async (task) => {
      let order = task.text;
      if (order === "ask") order = await task.ask("And now?", { name: "now" });
      if (order === "time out") await task.ask("Anybody?", { name: "nobody", timeout: 1 });
      if (order === "fail") throw new Error("It failed");
      if (order === "hang") await createGate().passed(task.signal);
    },
    { capabilities: { stateTransitionHistory: true } },
  );

async function statesOf(url: string, id: string): Promise<unknown> {
  const transitions = at(await endedTask(url, id), "metadata.stateTransitions");
  return Array.isArray(transitions) ? transitions.map((transition) => at(transition, "state")) : transitions;
}

const cancel = (url: string, id: string) => post(url, rpcRequest(4, "tasks/cancel", { id }), IN_0_1);

/** Starts a task that asks, and waits for the question. */
async function beginAsking(url: string, id: string): Promise<void> {
  const frames = await streamed(url, rpcRequest(1, "tasks/sendSubscribe", taskParams(id, "ask")));
  expect(at(frames.at(-1)?.json, "result.status.state")).toBe("input-required");
}

it(seed.example("2.2 State transition rules › submitted", "a task is submitted, then working"), async () => {
  await using testServer = await serveObedient();
  await sendTask(testServer.url, taskParams("task-1", "complete"));
  expect(await statesOf(testServer.url, "task-1")).toEqual(["submitted", "working", "completed"]);
});

it(
  seed.example("2.2 State transition rules › working", "a working task completes, fails, is canceled, or asks"),
  async () => {
    await using testServer = await serveObedient();
    for (const [order, state] of Object.entries({ complete: "completed", fail: "failed" })) {
      await sendTask(testServer.url, taskParams(order, order));
      expect(await statesOf(testServer.url, order)).toEqual(["submitted", "working", state]);
    }
    await sendTask(testServer.url, taskParams("hang", "hang"));
    expect(at(resultOf(await cancel(testServer.url, "hang"), 4), "status.state")).toBe("canceled");
    expect(await statesOf(testServer.url, "hang")).toEqual(["submitted", "working", "canceled"]);
    await beginAsking(testServer.url, "ask");
    expect(at(await getTask(testServer.url, "ask"), "status.state")).toBe("input-required");
  },
);

it(
  seed.example(
    "2.2 State transition rules › input-required",
    "a task that asked is working again, fails, or is canceled",
  ),
  async () => {
    await using testServer = await serveObedient();
    const before = ["submitted", "working", "input-required"];
    await beginAsking(testServer.url, "task-1");
    await sendTask(testServer.url, taskParams("task-1", "complete"));
    expect(await statesOf(testServer.url, "task-1")).toEqual([...before, "working", "completed"]);
    await sendTask(testServer.url, taskParams("task-2", "time out"));
    expect(await statesOf(testServer.url, "task-2")).toEqual([...before, "failed"]);
    await beginAsking(testServer.url, "task-3");
    await cancel(testServer.url, "task-3");
    expect(await statesOf(testServer.url, "task-3")).toEqual([...before, "canceled"]);
  },
);

it(seed.example("2.2 State transition rules › terminal states", "a finished task does not change"), async () => {
  await using testServer = await serveObedient();
  for (const order of ["complete", "fail", "hang"]) {
    await sendTask(testServer.url, taskParams(order, order));
    if (order === "hang") await cancel(testServer.url, order);
    const ended = await endedTask(testServer.url, order);
    expect(errorOf(await cancel(testServer.url, order), 4)).toMatchObject({ code: -32002 });
    const send = rpcRequest(5, "tasks/send", taskParams(order, "again"));
    expect(errorOf(await post(testServer.url, send), 5)).toMatchObject({ code: -32009 });
    expect(await getTask(testServer.url, order)).toEqual(ended);
  }
});

it(
  seed.example(
    "2.4 stateTransitionHistory",
    "if declared, the states are in the metadata, each with its time; the history contains messages",
  ),
  async () => {
    await using testServer = await serveObedient();
    await sendTask(testServer.url, taskParams("task-1", "complete"));
    await endedTask(testServer.url, "task-1");
    const task = await getTask(testServer.url, "task-1", { historyLength: 5 });
    expect(at(task, "metadata.stateTransitions")).toEqual(
      ["submitted", "working", "completed"].map((state) => ({ state, timestamp: TIME })),
    );
    expect(at(task, "history")).toEqual([{ role: "user", parts: [{ type: "text", text: "complete" }] }]);
    await using other = await serveScript(async () => "done");
    await sendTask(other.url, taskParams("task-1", "complete"));
    expect(at(await endedTask(other.url, "task-1"), "metadata")).toBeUndefined();
  },
);

it(seed.example("2.1 Task model › TaskState", "no other state is returned, not even for a rejected task"), async () => {
  await using testServer = await serveScript((task) => task.reject("Not this one."), {
    capabilities: { stateTransitionHistory: true },
  });
  const frames = await streamed(testServer.url, rpcRequest(1, "tasks/sendSubscribe", taskParams("task-1", "Hello")));
  const task = await endedTask(testServer.url, "task-1");
  const unnamed = await post(testServer.url, rpcRequest(2, "tasks/get", { id: "task-1" }));
  const again = await post(testServer.url, rpcRequest(3, "tasks/send", taskParams("task-1", "Again")));
  expect(await statesOf(testServer.url, "task-1")).toEqual(["submitted", "working", "failed"]);
  expect(at(task, "status.message.parts.0.text")).toBe("Not this one.");
  expect(errorOf(again, 3)).toMatchObject({ code: -32009, data: { state: "failed" } });
  for (const text of [...frames.map(({ data }) => data), JSON.stringify(task), unnamed.text, again.text]) {
    expect(text).not.toContain("rejected");
  }
});

it(
  seed.example(
    "2 On failure",
    "an impossible transition gets an error that says so: a completed task does not work again",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done");
    await sendTask(testServer.url, taskParams("task-1", "Begin"));
    await endedTask(testServer.url, "task-1");
    const again = await post(testServer.url, rpcRequest(1, "tasks/send", taskParams("task-1", "Again")));
    expect(errorOf(again, 1)).toMatchObject({
      code: -32009,
      message: expect.stringMatching(/./),
      data: { reason: "INVALID_TRANSITION", taskId: "task-1", state: "completed" },
    });
  },
);
