import {
  type A2ATaskDeps,
  clearTaskStore,
  handleTaskGet,
  handleTaskSend,
  NotFoundError,
  type ProcessListener,
} from "palaver/plain";
import { createProcessManager } from "palaver/process";
import { afterEach, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../../src/testing/temporary-folder.ts";
import { seed } from "./seed.ts";
import { says } from "./tasks.ts";

afterEach(() => {
  clearTaskStore();
  vi.useRealTimers();
});

interface Agent {
  readonly id: string;
  readonly defaultProjectId?: string;
}

/** A database and a process manager that only record what is done with them, and emit the events of the test. */
function program(
  agents: readonly Agent[] = [{ id: "a" }, { id: "b", defaultProjectId: "p" }, { id: "c", defaultProjectId: "q" }],
) {
  const listeners = new Map<string, ProcessListener>();
  const sessions: unknown[] = [];
  const started: unknown[] = [];
  const stopped: string[] = [];
  const db = {
    listAgents: () => agents,
    createSession: (input: object) => {
      sessions.push(input);
      return { id: `session-${sessions.length}` };
    },
  };
  const processManager = {
    subscribe: (sessionId: string, listener: ProcessListener) => void listeners.set(sessionId, listener),
    startProcess: (session: { readonly id: string }, prompt: string) => void started.push([session.id, prompt]),
    stopProcess: (sessionId: string) => void stopped.push(sessionId),
  };
  const emit = (sessionId: string, event: object): void =>
    listeners.get(sessionId)?.(sessionId, { type: "", ...event });
  return { deps: { db, processManager }, emit, sessions, started, stopped };
}

it(
  seed.example(
    "Scenario: Inbound task lifecycle › processManager",
    "submitted, then working once the session exists; assistant events are messages; session_exited completes the task",
  ),
  async () => {
    const { deps, emit, started } = program();
    const states: (string | undefined)[] = [];
    const { db } = deps;
    const watched = {
      ...deps,
      createSession: (_db: unknown, input: object) => {
        // The task exists before its session, but nobody knows its id yet.
        states.push("before the session");
        return db.createSession(input);
      },
    };
    const task = await handleTaskSend(watched, { message: "Hello" });
    states.push(task.state);
    expect(states).toEqual(["before the session", "working"]);
    expect(task).toMatchObject({ sessionId: "session-1", messages: [says("user", "Hello")] });
    expect(started).toEqual([["session-1", "Hello"]]);
    emit(task.sessionId, { type: "assistant", message: { content: "Hi there" } });
    emit(task.sessionId, { type: "assistant", message: { content: [{ type: "text", text: "in blocks" }] } });
    expect(await handleTaskGet(task.id)).toMatchObject({
      state: "working",
      messages: [says("user", "Hello"), says("agent", "Hi there"), says("agent", "in blocks")],
    });
    emit(task.sessionId, { type: "session_exited" });
    expect((await handleTaskGet(task.id))?.state).toBe("completed");
    // The last state is final.
    emit(task.sessionId, { type: "error" });
    emit(task.sessionId, { type: "assistant", message: { content: "late" } });
    expect(await handleTaskGet(task.id)).toMatchObject({ state: "completed", messages: { length: 3 } });
    const other = await handleTaskSend(deps, { message: "Stop" });
    emit(other.sessionId, { type: "session_stopped" });
    expect((await handleTaskGet(other.id))?.state).toBe("completed");
  },
);

it(
  seed.example(
    "Scenario: Inbound task timeout › processManager",
    "a working task fails after timeoutMs, by default 300,000; the timer is cleared on exit and on error",
  ),
  async () => {
    vi.useFakeTimers();
    const { deps, emit, stopped } = program();
    const late = await handleTaskSend(deps, { message: "Hello", timeoutMs: 5000 });
    const patient = await handleTaskSend(deps, { message: "Hello" });
    vi.advanceTimersByTime(4999);
    expect((await handleTaskGet(late.id))?.state).toBe("working");
    vi.advanceTimersByTime(1);
    expect(await handleTaskGet(late.id)).toMatchObject({
      state: "failed",
      messages: [says("user", "Hello"), says("agent", "Task timed out")],
    });
    expect(stopped).toEqual([late.sessionId]);
    vi.advanceTimersByTime(294_999);
    expect((await handleTaskGet(patient.id))?.state).toBe("working");
    vi.advanceTimersByTime(1);
    expect((await handleTaskGet(patient.id))?.state).toBe("failed");
    // Other servers in this process may have timers of their own.
    const timersBefore = vi.getTimerCount();
    const ended = [await handleTaskSend(deps, { message: "1" }), await handleTaskSend(deps, { message: "2" })];
    expect(vi.getTimerCount()).toBe(timersBefore + 2);
    emit(ended[0]?.sessionId ?? "", { type: "session_exited" });
    emit(ended[1]?.sessionId ?? "", { type: "error" });
    expect(vi.getTimerCount()).toBe(timersBefore);
  },
);

it(
  seed.example("Scenario: No suitable agent for inbound task › processManager", "throws the specified error"),
  async () => {
    const { deps } = program([{ id: "a" }]);
    await expect(handleTaskSend(deps, { message: "Hello" })).rejects.toEqual(
      new NotFoundError("Agent with default project"),
    );
  },
);

it(
  seed.example(
    "Invariants › 3 and 13 › processManager",
    "the session belongs to the first agent with a default project, and its source is an agent",
  ),
  async () => {
    const { deps, sessions } = program();
    await handleTaskSend(deps, { message: "Hello" });
    expect(sessions).toEqual([
      { projectId: "p", agentId: "b", name: expect.any(String), initialPrompt: "Hello", source: "agent" },
    ]);
    const { db, processManager } = deps;
    const overrides: A2ATaskDeps = {
      db: {},
      processManager,
      listAgents: () => [{ id: "z", defaultProjectId: "project" }],
      createSession: (_db, input) => db.createSession(input),
    };
    await handleTaskSend(overrides, { message: "Hello" });
    expect(sessions[1]).toMatchObject({ agentId: "z" });
  },
);

it(
  seed.example(
    "Invariants › 4 and 5 › processManager",
    "one task above 1000 removes the 100 oldest finished tasks, and no active one",
  ),
  async () => {
    const { deps, emit } = program();
    const active = await handleTaskSend(deps, { message: "active" });
    const finished: string[] = [];
    for (let count = 0; count < 999; count += 1) {
      const { id, sessionId } = await handleTaskSend(deps, { message: "Hello" });
      emit(sessionId, { type: "session_exited" });
      finished.push(id);
    }
    expect(await handleTaskGet(finished[0] ?? "")).not.toBeNull();
    await handleTaskSend(deps, { message: "one more" });
    for (const id of finished.slice(0, 100)) expect(await handleTaskGet(id)).toBeNull();
    expect(await handleTaskGet(finished[100] ?? "")).not.toBeNull();
    expect((await handleTaskGet(active.id))?.state).toBe("working");
  },
);

it(
  seed.example("Error Cases › error event › processManager", "fails the task; so does a start that fails"),
  async () => {
    const { deps, emit } = program();
    const task = await handleTaskSend(deps, { message: "Hello" });
    emit(task.sessionId, { type: "error" });
    expect((await handleTaskGet(task.id))?.state).toBe("failed");
    emit(task.sessionId, { type: "session_exited" });
    expect((await handleTaskGet(task.id))?.state).toBe("failed");
    const startProcess = async (): Promise<never> => {
      throw new Error("no memory");
    };
    const broken = { ...deps, processManager: { ...deps.processManager, startProcess } };
    await expect(handleTaskSend(broken, { message: "Hello" })).rejects.toThrow("no memory");
  },
);

it(
  seed.example(
    "Dependencies › ProcessManager",
    "the process runner of palaver/process is such a manager: output, failure, timeout and stop",
  ),
  async () => {
    await using folder = await temporaryFolder();
    const processManager = createProcessManager({
      command: "bash",
      args: ["-c", 'read -r line; case "$line" in fail) exit 1;; hang) sleep 60;; *) echo "You said $line";; esac'],
      stateFolder: folder.path,
    });
    try {
      const { deps } = program();
      const own: A2ATaskDeps = { ...deps, processManager };
      const stateOf = async (message: string, timeoutMs?: number): Promise<unknown> => {
        const { id } = await handleTaskSend(own, { message, timeoutMs });
        await expect.poll(async () => (await handleTaskGet(id))?.state).not.toBe("working");
        return handleTaskGet(id);
      };
      expect(await stateOf("hello")).toMatchObject({
        state: "completed",
        messages: [says("user", "hello"), says("agent", "You said hello")],
      });
      expect(await stateOf("fail")).toMatchObject({ state: "failed" });
      expect(await stateOf("hang", 50)).toMatchObject({
        state: "failed",
        messages: [says("user", "hang"), says("agent", "Task timed out")],
      });
      const waiting = await handleTaskSend(own, { message: "hang" });
      await processManager.stopProcess(waiting.sessionId);
      await expect.poll(async () => (await handleTaskGet(waiting.id))?.state).toBe("completed");
    } finally {
      await processManager.close();
    }
  },
);
