import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, get, post } from "../exchange.ts";
import { rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, getTask, responseText, says, sendTask } from "./tasks.ts";

const HOME = { defaultProjectId: "project-1" };

const ORDER = ["submitted", "working", "completed"];

it(
  seed.example(
    "Invariants › 1 forward-only",
    "states never go back: a task that asks is still working, and a finished task does not change",
  ),
  async () => {
    const [asked, answered] = [createGate(), createGate()];
    await using testServer = await serveAgents(
      scripted(async (task) => {
        await task.ask("Which one?");
        answered.open();
        return "that one";
      }, HOME),
      {
        on: {
          event(event) {
            if (event.kind === "status" && event.status.state === "input-required") asked.open();
          },
        },
      },
    );
    const { id, state } = await sendTask(testServer.url, { message: "Hello" });
    const seen: string[] = [state];
    await asked.passed(new AbortController().signal);
    const waiting = await getTask(testServer.url, id);
    expect([waiting.state, responseText(waiting)]).toEqual(["working", "Which one?"]);
    seen.push(waiting.state);
    await sendTask(testServer.url, { message: "This one", taskId: id });
    await answered.passed(new AbortController().signal);
    while (seen.at(-1) !== "completed") seen.push((await getTask(testServer.url, id)).state);
    expect(seen).toEqual(seen.toSorted((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other)));
    const ended = await getTask(testServer.url, id);
    const again = await post(`${testServer.url}/a2a/tasks/send`, { message: "More", taskId: id });
    expect(again.status).toBeGreaterThanOrEqual(400);
    expect(await getTask(testServer.url, id)).toEqual(ended);
  },
);

it(
  seed.example("Invariants › 2 event-driven", "a task ends when its agent ends, however often it is polled"),
  async () => {
    const gate = createGate();
    await using testServer = await serveScript(async (task) => {
      await gate.passed(task.signal);
      if (task.text === "fail") throw new Error("It failed");
    }, HOME);
    const ids = [];
    for (const message of ["end", "fail"]) ids.push((await sendTask(testServer.url, { message })).id);
    for (const id of [...ids, ...ids])
      expect(["submitted", "working"]).toContain((await getTask(testServer.url, id)).state);
    gate.open();
    const ended = await Promise.all(ids.map((id) => endedTask(testServer.url, id)));
    expect(ended.map(({ state }) => state)).toEqual(["completed", "failed"]);
  },
);

it(seed.example("Invariants › 3 first agent with defaultProjectId", "requests without an agent go to it"), async () => {
  const named = (id: string, more: object = {}) => scripted(async () => id, { id, ...more });
  await using testServer = await serveAgents([named("first"), named("second", HOME), named("third", HOME)]);
  const { id } = await sendTask(testServer.url, { message: "Who are you?" });
  expect(responseText(await endedTask(testServer.url, id))).toBe("second");
  await using without = await serveAgents([named("first"), named("second")]);
  const other = await sendTask(without.url, { message: "Who are you?" });
  expect(responseText(await endedTask(without.url, other.id))).toBe("first");
});

/** Number of concurrent sends. */
const AT_ONCE = 25;

/** Sends that many messages, whose tasks complete at once; returns their ids, oldest first except within a batch. */
async function sendMany(url: string, count: number, atOnce = AT_ONCE): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const together = Array.from({ length: Math.min(atOnce, count - ids.length) }, () =>
      sendTask(url, { message: "Hello" }),
    );
    const sent = (await Promise.all(together)).map(({ id }) => id);
    await Promise.all(sent.map((id) => endedTask(url, id)));
    ids.push(...sent);
  }
  return ids;
}

const statusOf = async (url: string, id: string): Promise<number> => (await get(`${url}/a2a/tasks/${id}`)).status;

/** The number of tasks, from the one version that reports it. */
async function countTasks(url: string): Promise<unknown> {
  const list = await post(url, rpcRequest(1, "ListTasks", { pageSize: 1 }), { "a2a-version": "1.0" });
  return at(list.json, "result.totalSize");
}

it(
  seed.example("Invariants › 4 capped at 1000", "one task above the cap removes the hundred oldest finished tasks"),
  async () => {
    await using testServer = await serveScript(async () => "done", HOME);
    const ids = await sendMany(testServer.url, 1000);
    expect(await countTasks(testServer.url)).toBe(1000);
    await sendMany(testServer.url, 1);
    expect(await countTasks(testServer.url)).toBe(901);
    for (const id of ids.slice(0, AT_ONCE)) expect(await statusOf(testServer.url, id)).toBe(404);
    for (const id of ids.slice(-AT_ONCE)) expect(await statusOf(testServer.url, id)).toBe(200);
  },
);

it(
  seed.example(
    "Invariants › 5 active tasks are never pruned",
    "the oldest task stays while it works; if all tasks work, new ones are refused",
  ),
  async () => {
    const gate = createGate();
    const agent = scripted(async (task) => {
      if (task.text === "wait") await gate.passed(task.signal);
    }, HOME);
    await using testServer = await serveAgents(agent, { retention: { maxTasks: 5, pruneCount: 2 } });
    const { id: oldest } = await sendTask(testServer.url, { message: "wait" });
    await sendMany(testServer.url, 20, 1);
    expect((await getTask(testServer.url, oldest)).state).toBe("working");
    await using busy = await serveAgents(agent, { retention: { maxTasks: 5, pruneCount: 2 } });
    for (let sent = 0; sent < 5; sent += 1) await sendTask(busy.url, { message: "wait" });
    expect((await post(`${busy.url}/a2a/tasks/send`, { message: "wait" })).status).toBe(503);
    gate.open();
    expect((await endedTask(testServer.url, oldest)).state).toBe("completed");
  },
);

it(seed.example("Invariants › 6 timeout", "a task that exceeds its timeout fails; other tasks continue"), async () => {
  const gate = createGate();
  await using testServer = await serveScript(async (task) => gate.passed(task.signal), HOME);
  const { id: patient } = await sendTask(testServer.url, { message: "Hello" });
  const { id } = await sendTask(testServer.url, { message: "Hello", timeoutMs: 5 });
  expect((await endedTask(testServer.url, id)).messages).toEqual([
    says("user", "Hello"),
    says("agent", "Task timed out"),
  ]);
  expect((await getTask(testServer.url, patient)).state).toBe("working");
  gate.open();
  expect((await endedTask(testServer.url, patient)).state).toBe("completed");
});

it(
  seed.example("Invariants › 7 timeout is cleared", "a finished task does not fail when its timeout passes"),
  async () => {
    await using testServer = await serveScript(async (task) => {
      if (task.text === "hang") await createGate().passed(task.signal);
    }, HOME);
    const { id } = await sendTask(testServer.url, { message: "Hello", timeoutMs: 400 });
    const done = await endedTask(testServer.url, id);
    // This task is created later with the same timeout, so it times out after the other would have.
    const { id: later } = await sendTask(testServer.url, { message: "hang", timeoutMs: 400 });
    expect((await endedTask(testServer.url, later)).state).toBe("failed");
    expect(done.state).toBe("completed");
    expect(await getTask(testServer.url, id)).toEqual(done);
  },
);

it(seed.example("Invariants › 11 last agent message", "the agent's output is its last message"), async () => {
  await using testServer = await serveScript(async (task) => {
    await task.status("Looking");
    const answer = task.artifact("answer");
    await answer.write("Forty");
    await answer.end("-two");
  }, HOME);
  const { id } = await sendTask(testServer.url, { message: "Hello" });
  const task = await endedTask(testServer.url, id);
  expect(task.messages).toEqual([says("user", "Hello"), says("agent", "Looking"), says("agent", "Forty-two")]);
  expect(responseText(task)).toBe("Forty-two");
});

it(seed.example("Invariants › 13 source", "the agent can distinguish these calls from calls by people"), async () => {
  const sources: unknown[] = [];
  await using testServer = await serveScript(async ({ metadata }) => {
    sources.push(metadata["source"]);
  }, HOME);
  const { id } = await sendTask(testServer.url, { message: "Hello" });
  await endedTask(testServer.url, id);
  const message = { role: "user", parts: [{ kind: "text", text: "Hello" }], messageId: "m" };
  const other = await post(testServer.url, rpcRequest(1, "message/send", { message }));
  expect(at(other.json, "result.status.state")).toBe("completed");
  expect(sources).toEqual(["agent", undefined]);
});
