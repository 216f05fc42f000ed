import { afterEach, describe, expect, it, vi } from "vitest";
import { type Agent, type AgentDefinition, agent } from "../engine/agent/agent.ts";
import { createDeferred } from "../internal/deferred.ts";
import { A2AError } from "../protocol/error.ts";
import { EngineHarness } from "../testing/engine-harness.ts";
import { createHttpHandler } from "../transport/http-handler.ts";
import { NotFoundError, ValidationError } from "./errors.ts";
import { clearTaskStore, handleTaskGet, handleTaskSend } from "./task-handler.ts";
import { serving } from "./test/serving.ts";
import type { A2ATask, A2ATaskDeps, A2ATaskSendRequest, A2ATaskState } from "./types.ts";

afterEach(clearTaskStore);

type Run = NonNullable<AgentDefinition["run"]>;

/** An agent with a default project. */
function declared(id: string, run: Run, rest: Partial<AgentDefinition> = {}): Agent {
  return undeclared(id, run, { defaultProjectId: "project-1", ...rest });
}

function undeclared(id: string, run: Run, rest: Partial<AgentDefinition> = {}): Agent {
  return agent({ id, name: id, description: "A test agent.", version: "1.0.0", run, ...rest });
}

const echo = declared("echo", async (task) => `You said ${task.text}`);
const stubborn = declared("stubborn", async (task) => {
  await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
});

/** Polls until the task is in this state. */
function untilState(id: string, state: A2ATaskState, deps?: A2ATaskDeps): Promise<A2ATask> {
  return vi.waitFor(async () => {
    const task = await (deps === undefined ? handleTaskGet(id) : handleTaskGet(deps, id));
    if (task?.state !== state) throw new Error(`The task is ${task?.state}, not ${state}.`);
    return task;
  });
}

function messagesOf({ messages }: A2ATask): readonly string[] {
  return messages.map(({ role, parts }) => `${role}: ${parts.map(({ text }) => text).join("")}`);
}

describe("Scenario: Inbound task lifecycle", () => {
  it("goes from submitted to working, collects the agent's messages, and completes when the agent ends", async () => {
    const mayWrite = createDeferred();
    const toEnd = createDeferred();
    const states: string[] = [];
    const greeter = declared("greeter", async (task) => {
      await mayWrite.promise;
      await task.status("Hi there");
      await toEnd.promise;
    });
    await using server = serving(greeter, {
      on: { event: (event) => void (event.kind === "status" && states.push(event.status.state)) },
    });
    const sent = await handleTaskSend({ server }, { message: "Hello" });
    expect(["submitted", "working"]).toContain(sent.state);
    expect(messagesOf(sent)).toEqual(["user: Hello"]);
    await untilState(sent.id, "working");
    mayWrite.resolve();
    const answered = await vi.waitFor(async () => {
      const task = await handleTaskGet(sent.id);
      expect(task?.messages).toHaveLength(2);
      return task;
    });
    expect(answered).toMatchObject({ id: sent.id, state: "working", sessionId: sent.sessionId });
    expect(answered?.messages.at(-1)).toEqual({ role: "agent", parts: [{ type: "text", text: "Hi there" }] });
    toEnd.resolve();
    const done = await untilState(sent.id, "completed");
    expect(messagesOf(done)).toEqual(["user: Hello", "agent: Hi there"]);
    expect(done.createdAt).toBe(sent.createdAt);
    expect(Date.parse(done.updatedAt)).toBeGreaterThanOrEqual(Date.parse(done.createdAt));
    expect(states).toEqual(["working", "working", "completed"]);
  });

  it("returns the agent's artifacts as messages", async () => {
    await using server = serving(echo);
    const { id } = await handleTaskSend({ server }, { message: "Hello" });
    expect(messagesOf(await untilState(id, "completed"))).toEqual(["user: Hello", "agent: You said Hello"]);
  });
});

/** A server with a fake clock. */
async function withFakeClock(agents: Agent): Promise<{ readonly deps: A2ATaskDeps; readonly harness: EngineHarness }> {
  const harness = await EngineHarness.open({ agents });
  const server = createHttpHandler({ agents: [agents], engine: harness.engine, publicUrl: "https://agents.example" });
  return { deps: { server }, harness };
}

describe("Scenario: Inbound task timeout", () => {
  it("fails the task with the message that it timed out", async () => {
    const { deps, harness } = await withFakeClock(stubborn);
    await using _ = harness;
    const { id } = await handleTaskSend(deps, { message: "Hello", timeoutMs: 5000 });
    await harness.advance(4999);
    expect(await handleTaskGet(id)).toMatchObject({ state: "working" });
    await harness.advance(1);
    const failed = await untilState(id, "failed");
    expect(messagesOf(failed)).toEqual(["user: Hello", "agent: Task timed out"]);
    expect(Date.parse(failed.updatedAt) - Date.parse(failed.createdAt)).toBe(5000);
  });

  it("is 5 minutes by default", async () => {
    const { deps, harness } = await withFakeClock(stubborn);
    await using _ = harness;
    const { id } = await handleTaskSend(deps, { message: "Hello" });
    await harness.advance(299_999, 60_000);
    expect(await handleTaskGet(id)).toMatchObject({ state: "working" });
    await harness.advance(1);
    await untilState(id, "failed");
  });

  it("does not fail a task that completed before", async () => {
    const { deps, harness } = await withFakeClock(echo);
    await using _ = harness;
    const waiting = harness.clock.pending;
    const { id } = await handleTaskSend(deps, { message: "Hello", timeoutMs: 5000 });
    const done = await untilState(id, "completed");
    expect(harness.clock.pending).toBe(waiting);
    await harness.advance(20_000);
    expect(await handleTaskGet(id)).toEqual(done);
  });
});

describe("Scenario: No suitable agent for inbound task", () => {
  const bare = undeclared("bare", async () => "bare");

  it("throws NotFoundError('Agent with default project')", async () => {
    await using server = serving([bare]);
    const error = await handleTaskSend({ server }, { message: "Hello" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toEqual(new NotFoundError("Agent with default project"));
    expect(error).toMatchObject({ name: "NotFoundError", resource: "Agent with default project" });
    expect(await handleTaskGet({ server }, "0197f0a1-2b3c-7d4e-8f50-0123456789ab")).toBeNull();
  });

  it("is 404 over HTTP; requests that name an agent still work", async () => {
    await using server = serving([bare], { requireDefaultProject: true });
    const post = (path: string): Promise<Response> => {
      const headers = { "content-type": "application/json" };
      return server.fetch(new Request(`https://x${path}`, { method: "POST", headers, body: '{"message":"Hello"}' }));
    };
    const refused = await post("/a2a/tasks/send");
    expect(refused.status).toBe(404);
    expect(await refused.json()).toEqual({
      error: {
        code: "method-not-found",
        message: "Agent with default project not found",
        details: { resource: "Agent with default project" },
      },
    });
    expect((await post("/agents/bare/a2a/tasks/send")).status).toBe(200);
    expect((await post("/message:send")).status).toBe(400);
  });

  it("does not apply over HTTP without `requireDefaultProject`, nor if the request names an agent", async () => {
    await using server = serving([bare, undeclared("other", async () => "other")]);
    const body = JSON.stringify({ message: "Hello" });
    const headers = { "content-type": "application/json" };
    const answer = await server.fetch(new Request("https://x/a2a/tasks/send", { method: "POST", headers, body }));
    const { id } = (await answer.json()) as A2ATask;
    expect(messagesOf(await untilState(id, "completed", { server }))).toEqual(["user: Hello", "agent: bare"]);
    const other = { server, agentId: "other" };
    const named = await handleTaskSend(other, { message: "Hello" });
    expect(messagesOf(await untilState(named.id, "completed"))).toEqual(["user: Hello", "agent: other"]);
  });
});

describe("Invariant", () => {
  it("1: the state of a task only moves forward", async () => {
    await using server = serving(echo);
    const { id } = await handleTaskSend({ server }, { message: "Hello" });
    const done = await untilState(id, "completed");
    const more = handleTaskSend({ server }, { message: "More", taskId: id });
    await expect(more).rejects.toMatchObject({ name: "A2AError", code: "unsupported-operation" });
    expect(await handleTaskGet(id)).toEqual(done);
  });

  it("2: a task ends when its agent ends: completed or failed", async () => {
    const end = createDeferred<string>({ handled: true });
    await using server = serving(declared("ender", () => end.promise));
    const { id } = await handleTaskSend({ server }, { message: "Hello" });
    await untilState(id, "working");
    end.reject(new Error("secret"));
    const failed = await untilState(id, "failed");
    expect(failed.messages.at(-1)?.role).toBe("agent");
    expect(JSON.stringify(failed)).not.toContain("secret");
  });

  it("3: the first agent with a default project is selected", async () => {
    const agents = ["none", "first", "second"].map((id) =>
      (id === "none" ? undeclared : declared)(id, async () => `by ${id}`),
    );
    await using server = serving(agents);
    const { id } = await handleTaskSend({ server }, { message: "Hello" });
    expect(messagesOf(await untilState(id, "completed")).at(-1)).toBe("agent: by first");
    const other = await handleTaskSend({ server, agentId: "none" }, { message: "Hello" });
    expect(messagesOf(await untilState(other.id, "completed")).at(-1)).toBe("agent: by none");
  });

  it("4 and 5: above 1000 tasks the 100 oldest finished tasks are removed, and no unfinished task", async () => {
    const slow = declared("slow", async (task) => {
      if (task.text !== "stay") return task.text;
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
      return "";
    });
    await using server = serving(slow);
    const ids: string[] = [];
    const send = async (message: string): Promise<void> => {
      const { id } = await handleTaskSend({ server }, { message });
      ids.push(id);
      if (message !== "stay") await untilState(id, "completed");
    };
    await send("stay");
    for (let count = 1; count <= 1000; count += 1) await send(`task ${count}`);
    const found = await Promise.all(ids.map((id) => handleTaskGet(id)));
    const gone = found.flatMap((task, index) => (task === null ? [index] : []));
    expect(gone).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(found[0]).toMatchObject({ state: "working" });
  });

  it("13: the agent sees that another agent began the session", async () => {
    const source = declared("source", async (task) => `by ${JSON.stringify(task.metadata["source"])}`);
    await using server = serving(source);
    const { id } = await handleTaskSend({ server }, { message: "Hello" });
    expect(messagesOf(await untilState(id, "completed")).at(-1)).toBe('agent: by "agent"');
  });
});

describe("handleTaskSend", () => {
  it("accepts a request in `params`, a message in parts, a skill, and a session to continue", async () => {
    const skilled = declared("skilled", async (task) => `${task.skillId}: ${task.text}`, {
      skills: ["a", "b"].map((id) => ({ id, name: id, description: id, tags: [] })),
    });
    await using server = serving(skilled);
    const parts = [{ text: "one " }, { type: "text", text: "two" }] as const;
    const first = await handleTaskSend({ server }, { params: { message: { parts }, skill: "b" } });
    expect(messagesOf(await untilState(first.id, "completed"))).toEqual(["user: one two", "agent: b: one two"]);
    const { sessionId } = first;
    const second = await handleTaskSend({ server }, { message: "three", skill: "a", sessionId });
    expect(second.sessionId).toBe(sessionId);
    expect(second.id).not.toBe(first.id);
    const wrong = await handleTaskSend({ server }, { message: "four", skill: "c" });
    expect(messagesOf(await untilState(wrong.id, "failed")).at(-1)).toContain('Unknown skill "c"');
  });

  it("continues a task that waits for input", async () => {
    const asker = declared("asker", async (task) => `${await task.ask("How many?")} it is`);
    await using server = serving(asker);
    const { id } = await handleTaskSend({ server }, { message: "Tea" });
    await vi.waitFor(async () =>
      expect(messagesOf((await handleTaskGet(id)) as A2ATask).at(-1)).toBe("agent: How many?"),
    );
    expect(await handleTaskGet(id)).toMatchObject({ state: "working" });
    await handleTaskSend({ server }, { message: "Two", taskId: id });
    const done = await untilState(id, "completed");
    expect(messagesOf(done)).toEqual(["user: Tea", "agent: How many?", "user: Two", "agent: Two it is"]);
  });

  it("returns a task even if the agent replies with a message", async () => {
    const replier = agent({
      name: "Replier",
      description: "Replies.",
      version: "1",
      defaultProjectId: "p",
      reply: () => "At once",
    });
    await using server = serving(replier);
    const { id } = await handleTaskSend({ server }, { message: "Hello" });
    expect(messagesOf(await untilState(id, "completed"))).toEqual(["user: Hello", "agent: At once"]);
  });

  it("rejects invalid requests with a ValidationError that names the field", async () => {
    await using server = serving(echo);
    const cyclic: Record<string, unknown> = {};
    cyclic["message"] = cyclic;
    for (const [body, field] of [
      [{}, "message"],
      [{ message: "" }, "message"],
      [{ message: "x", timeoutMs: -1 }, "timeoutMs"],
      [{ params: { message: { parts: [] } } }, "params.message.parts"],
      [undefined, "message"],
      [null, "message"],
      ["Hello", "body"],
      [cyclic, "body"],
      [{ message: 5n }, "body"],
    ] as const) {
      const error = await handleTaskSend({ server }, body as unknown as A2ATaskSendRequest).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ name: "ValidationError", violations: [{ field }] });
    }
  });

  it("rejects with NotFoundError for an unknown task or agent", async () => {
    await using server = serving(echo);
    const taskId = "0197f0a1-2b3c-7d4e-8f50-0123456789ab";
    await expect(handleTaskSend({ server }, { message: "x", taskId })).rejects.toEqual(new NotFoundError("Task"));
    const unknownAgent = { server, agentId: "../echo" };
    await expect(handleTaskSend(unknownAgent, { message: "x" })).rejects.toEqual(new NotFoundError("Agent"));
    expect(await handleTaskGet(unknownAgent, taskId)).toBeNull();
  });

  it("rejects with the server's own error for everything else", async () => {
    const server = serving(echo, { limits: { maxBodyBytes: 100 } });
    const large = handleTaskSend({ server }, { message: "x".repeat(200) });
    await expect(large).rejects.toMatchObject({ name: "A2AError", code: "payload-too-large" });
    await server.close();
    const late = handleTaskSend({ server }, { message: "x" });
    await expect(late).rejects.toMatchObject({ name: "A2AError", code: "unavailable" });
    await using broken = serving(echo, { store: "sqlite:/dev/null/tasks.db" });
    await expect(handleTaskSend({ server: broken }, { message: "x" })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("calls as a principal; only this principal finds the task", async () => {
    await using server = serving(echo, {
      authenticate: ({ headers }) => {
        const id = headers.get("x-user");
        if (id === null) throw new A2AError("unauthenticated", "Sign in first.");
        return { id, anonymous: false };
      },
    });
    const ann = { server, headers: { "x-user": "ann" } };
    const { id } = await handleTaskSend(ann, { message: "Hello" });
    await untilState(id, "completed", ann);
    expect(await handleTaskGet({ server, headers: { "x-user": "bob" } }, id)).toBeNull();
    expect(await handleTaskGet(id)).toBeNull();
    await expect(handleTaskGet({ server }, id)).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

describe("handleTaskGet", () => {
  it("finds the tasks of several servers by id", async () => {
    await using one = serving(echo);
    await using two = serving([stubborn, echo]);
    const first = await handleTaskSend({ server: one }, { message: "one" });
    const second = await handleTaskSend({ server: two, agentId: "echo" }, { message: "two" });
    expect(messagesOf(await untilState(first.id, "completed"))).toEqual(["user: one", "agent: You said one"]);
    expect(messagesOf(await untilState(second.id, "completed"))).toEqual(["user: two", "agent: You said two"]);
    expect(await handleTaskGet({ server: one }, second.id)).toBeNull();
  });

  it("finds tasks created over HTTP if the server is passed", async () => {
    await using server = serving(echo);
    const sent = await server.fetch(
      new Request("https://x/a2a/tasks/send", {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: '{"message":"Hello"}',
      }),
    );
    const { id }: A2ATask = JSON.parse(await sent.text());
    expect(await handleTaskGet(id)).toBeNull();
    const done = await untilState(id, "completed", { server });
    const got = await server.fetch(new Request(`https://x/a2a/tasks/${id}`));
    expect([got.status, await got.json()]).toEqual([200, done]);
  });

  it.each(["", "nope", "send", ".", "..", "a/b", "%2e", "\ud800", "x".repeat(300)])(
    "returns null for %j",
    async (id) => {
      await using server = serving(echo);
      expect(await handleTaskGet(id)).toBeNull();
      expect(await handleTaskGet({ server }, id)).toBeNull();
    },
  );
});

describe("clearTaskStore", () => {
  it("forgets earlier tasks, but not later ones", async () => {
    await using server = serving(echo);
    const before = await handleTaskSend({ server }, { message: "Hello" });
    clearTaskStore();
    expect(await handleTaskGet(before.id)).toBeNull();
    const after = await handleTaskSend({ server }, { message: "Hello" });
    await untilState(after.id, "completed");
    expect(await handleTaskGet(before.id)).toBeNull();
    expect(await handleTaskGet({ server }, before.id)).toBeNull();
    // The server still has the task.
    const served = await server.fetch(new Request(`https://x/a2a/tasks/${before.id}`));
    expect(await served.json()).toMatchObject({ id: before.id });
  });
});
