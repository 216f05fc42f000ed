import { handleTaskGet, handleTaskSend, NotFoundError } from "palaver/plain";
import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, post } from "../exchange.ts";
import { ID, TIME } from "../matchers.ts";
import { scripted, serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, getTask, responseText, says, sendTask } from "./tasks.ts";

const HOME = { defaultProjectId: "project-1" };

it(
  seed.example(
    "Scenario: Inbound task lifecycle",
    "submitted, then working; the agent's messages are appended; at the end completed",
  ),
  async () => {
    const [toSpeak, spoken, toEnd] = [createGate(), createGate(), createGate()];
    await using testServer = await serveScript(async (task) => {
      await toSpeak.passed(task.signal);
      await task.status("Hi there");
      await task.flush();
      spoken.open();
      await toEnd.passed(task.signal);
    }, HOME);
    const { server } = testServer;
    const sent = await handleTaskSend({ server }, { message: "Hello" });
    expect(sent).toEqual({
      id: ID,
      state: expect.stringMatching(/^(submitted|working)$/),
      messages: [says("user", "Hello")],
      sessionId: ID,
      createdAt: TIME,
      updatedAt: TIME,
    });
    toSpeak.open();
    await spoken.passed(new AbortController().signal);
    const messages = [says("user", "Hello"), says("agent", "Hi there")];
    expect(await handleTaskGet(sent.id)).toMatchObject({ id: sent.id, state: "working", messages });
    toEnd.open();
    const done = await endedTask(testServer.url, sent.id);
    expect(done).toMatchObject({ state: "completed", messages, sessionId: sent.sessionId, createdAt: sent.createdAt });
    expect(await handleTaskGet(sent.id)).toEqual(done);
  },
);

it(seed.example("Scenario: Inbound task timeout", "a task that works too long fails, and says so"), async () => {
  await using testServer = await serveScript((task) => createGate().passed(task.signal), HOME);
  const { id } = await sendTask(testServer.url, { message: "Hello", timeoutMs: 5 });
  const task = await endedTask(testServer.url, id);
  expect(task).toMatchObject({ state: "failed", messages: [says("user", "Hello"), says("agent", "Task timed out")] });
});

it(
  seed.example(
    "Scenario: Remote agent invocation",
    "a client that posts the message and polls until the task ends has the answer",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.status("Reading");
      return `Summary of ${task.text}`;
    }, HOME);
    const answer = await post(`${testServer.url}/a2a/tasks/send`, { message: "Summarize this" });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    const task = await endedTask(testServer.url, String(at(answer.json, "id")));
    expect(task.state).toBe("completed");
    expect(responseText(task)).toBe("Summary of Summarize this");
  },
);

it(
  seed.example("Scenario: No suitable agent for inbound task", "the function throws the specified error"),
  async () => {
    await using testServer = await serveScript(async () => "done");
    const deps = { server: testServer.server };
    const sending = handleTaskSend(deps, { message: "Hello" });
    await expect(sending).rejects.toEqual(new NotFoundError("Agent with default project"));
    await expect(sending).rejects.toMatchObject({ name: "NotFoundError" });
    // Over HTTP, requests that name an agent succeed.
    const { id } = await sendTask(testServer.url, { message: "Hello" });
    expect((await endedTask(testServer.url, id)).state).toBe("completed");
    expect(await handleTaskSend({ ...deps, agentId: "scripted" }, { message: "Hello" })).toMatchObject({ id: ID });
  },
);

it(seed.example("Error Cases › no agent with defaultProjectId", "over HTTP the status is 404"), async () => {
  await using testServer = await serveAgents(
    scripted(async () => "done", { id: "named" }),
    { requireDefaultProject: true },
  );
  const answer = await post(`${testServer.url}/a2a/tasks/send`, { message: "Hello" });
  expect(answer.status).toBe(404);
  expect(answer.text).toContain("Agent with default project");
  // Requests that name the agent need no default.
  const { id } = await sendTask(testServer.of("named"), { message: "Hello" });
  expect((await endedTask(testServer.of("named"), id)).state).toBe("completed");
});

it(seed.example("Error Cases › task submission fails", "a refused message gets an HTTP error status"), async () => {
  await using testServer = await serveScript(async () => "done", HOME);
  for (const body of [
    {},
    { message: "" },
    { message: 5 },
    { message: { parts: [] } },
    { message: "x", timeoutMs: -1 },
  ]) {
    expect((await post(`${testServer.url}/a2a/tasks/send`, body)).status).toBe(400);
  }
  await expect(sendTask(testServer.url, {})).rejects.toThrow("Submit failed: HTTP 400");
});

it(
  seed.example("Error Cases › remote task fails", "the task is failed, and its last message is the reason"),
  async () => {
    await using testServer = await serveScript(async (task) => task.reject("Not on Sundays"), HOME);
    const { id } = await sendTask(testServer.url, { message: "Hello" });
    const task = await endedTask(testServer.url, id);
    expect([task.state, responseText(task)]).toEqual(["failed", "Not on Sundays"]);
  },
);

it(seed.example("Error Cases › error event", "an agent that throws fails its task permanently"), async () => {
  await using testServer = await serveScript(async () => {
    throw new Error("password=1234");
  }, HOME);
  const { id } = await sendTask(testServer.url, { message: "Hello" });
  const task = await endedTask(testServer.url, id);
  expect(task.state).toBe("failed");
  expect(responseText(task)).not.toContain("1234");
  expect(responseText(task)).not.toBe("Task timed out");
  expect(await getTask(testServer.url, id)).toEqual(task);
});
