import { lastValueFrom, Observable, toArray } from "rxjs";
import { describe, expect, test, vi } from "vitest";
import { type Agent, agent } from "../engine/agent/agent.ts";
import { TaskFailure } from "../engine/agent/task-failure.ts";
import { AgentLoop, type LoopEvent } from "./agent-loop.ts";
import { serving } from "./test/serving.ts";

const worker: Agent = agent({
  id: "worker",
  name: "Worker",
  description: "Works.",
  version: "1",
  async run(task) {
    if (task.text === "fail") throw new TaskFailure("No such table");
    if (task.text === "reject") task.reject("Not today");
    if (task.text === "wait") await new Promise((_resolve, reject) => task.signal.addEventListener("abort", reject));
    if (task.text === "ask") return `You said ${await task.ask("Which one?")}`;
    await task.status("Working on it");
    await task.artifact("report").write("Sales ");
    await task.artifact("report").end("went up");
    await task.artifact("data").end({ rows: 3 });
    return undefined;
  },
});

const say = (text: string) => [{ kind: "text", text }];
const ids = () => ({ taskId: crypto.randomUUID(), contextId: crypto.randomUUID() });
function events(loop: AgentLoop, text: string, named = ids()): Promise<LoopEvent[]> {
  const observable = new Observable<LoopEvent>((observer) => loop.invoke(say(text), named).subscribe(observer));
  return lastValueFrom(observable.pipe(toArray()));
}

describe("an agent loop", () => {
  test("emits the events of a task with the chosen ids, and completes with it", async () => {
    await using server = serving(worker);
    const loop = new AgentLoop({ server });
    const named = ids();
    const data = { kind: "data", data: { rows: 3 } };
    expect(await events(loop, "go", named)).toEqual([
      { type: "status-update", state: "working", final: false },
      { type: "status-update", state: "working", final: false, message: "Working on it" },
      {
        type: "artifact-chunk",
        artifactId: "report",
        chunk: "Sales ",
        parts: say("Sales "),
        append: false,
        lastChunk: false,
      },
      {
        type: "artifact-chunk",
        artifactId: "report",
        chunk: "went up",
        parts: say("went up"),
        append: true,
        lastChunk: true,
      },
      {
        type: "artifact-chunk",
        artifactId: "data",
        chunk: '{"rows":3}',
        parts: [data],
        append: false,
        lastChunk: true,
      },
    ]);
    const response = await server.fetch(
      new Request(`http://x/v1/tasks/${named.taskId}`, { headers: { "a2a-version": "0.3" } }),
    );
    expect(await response.json()).toMatchObject({ id: named.taskId, contextId: named.contextId });
  });

  test("waits for the artifacts of a task", async () => {
    await using server = serving(worker);
    const { artifacts } = await new AgentLoop({ server, agentId: "worker" }).invokeSync(say("go"), ids());
    expect(artifacts).toMatchObject([
      { artifactId: "report", parts: say("Sales went up") },
      { artifactId: "data", parts: [{ kind: "data", data: { rows: 3 } }] },
    ]);
  });

  test.each([
    ["fail", "No such table", "failed"],
    ["reject", "Not today", "rejected"],
  ])("a task that ends with %s is an error with the text and the state", async (text, message, state) => {
    await using server = serving(worker);
    const loop = new AgentLoop({ server });
    const error = { name: "AgentLoopError", message, state };
    await expect(events(loop, text)).rejects.toMatchObject(error);
    await expect(loop.invokeSync(say(text), ids())).rejects.toMatchObject(error);
  });

  test("a question is an event and completes; the next call with the same id answers it", async () => {
    await using server = serving(worker);
    const loop = new AgentLoop({ server });
    const named = ids();
    const asked = await events(loop, "ask", named);
    expect(asked.at(-1)).toEqual({
      type: "status-update",
      state: "input-required",
      final: true,
      message: "Which one?",
    });
    expect(await events(loop, "this", named)).toContainEqual(
      expect.objectContaining({ type: "artifact-chunk", chunk: "You said this" }),
    );
    await expect(loop.invokeSync(say("ask"), ids())).rejects.toMatchObject({ state: "input-required" });
  });

  test("cancels a task by its id; a second cancel and an unknown id have no effect", async () => {
    await using server = serving(worker);
    const loop = new AgentLoop({ server });
    const named = ids();
    const error = vi.fn<(reason: unknown) => void>();
    const working = Promise.withResolvers<void>();
    loop.invoke(say("wait"), named).subscribe({ next: () => working.resolve(), error });
    await working.promise;
    await loop.cancel(named.taskId);
    await vi.waitFor(() => expect(error).toHaveBeenCalledWith(expect.objectContaining({ state: "canceled" })));
    await loop.cancel(named.taskId);
    await loop.cancel("unknown");
  });

  test("unsubscribing stops the events and not the task", async () => {
    await using server = serving(worker);
    const named = ids();
    const observer = { error: vi.fn<() => void>(), complete: vi.fn<() => void>() };
    const subscription = new AgentLoop({ server }).invoke(say("ask"), named).subscribe({
      ...observer,
      next: () => subscription.unsubscribe(),
    });
    await vi.waitFor(async () => {
      const task = await server.fetch(
        new Request(`http://x/v1/tasks/${named.taskId}`, { headers: { "a2a-version": "0.3" } }),
      );
      expect(await task.json()).toMatchObject({ status: { state: "TASK_STATE_INPUT_REQUIRED" } });
    });
    expect(observer.error).not.toHaveBeenCalled();
    expect(observer.complete).not.toHaveBeenCalled();
  });

  test("its events can be the run of another agent", async () => {
    await using inner = serving(worker);
    const outer = agent({
      name: "Outer",
      description: "Passes on.",
      version: "1",
      run: (task) => new AgentLoop({ server: inner }).invoke(say(task.text), { taskId: `inner-${task.id}` }),
    });
    await using server = serving(outer);
    const loop = new AgentLoop({ server });
    const { artifacts } = await loop.invokeSync(say("go"), ids());
    expect(artifacts).toMatchObject([
      { artifactId: "report", parts: say("Sales went up") },
      { artifactId: "data", parts: say('{"rows":3}') },
    ]);
    await expect(loop.invokeSync(say("fail"), ids())).rejects.toMatchObject({ state: "failed" });
  });

  test("invalid parts are refused with the reason", async () => {
    await using server = serving(worker);
    await expect(new AgentLoop({ server }).invokeSync([], ids())).rejects.toThrow("message.parts");
  });
});
