import type { MessageInput } from "../../client/api.ts";
import type { Agent } from "../../engine/agent/agent.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { TestedEvent, TestedTask } from "./tested-task.ts";

/** Settings of a test. */
export interface TestAgentOptions {
  /** The time at which the test begins: milliseconds since 1970. Default: 1 January 2030, 0:00 UTC. */
  readonly now?: number;
  /**
   * While `send`, `stream`, `answer` and `wait` wait for a task that sleeps, the clock jumps to the end of the sleep. False: the clock moves only by `advance`. Default
   * true.
   */
  readonly skipSleeps?: boolean;
}

/** Settings of one message. */
export interface TestSendOptions {
  /** Continues this context: the agent sees its earlier tasks and values. Default: a new context. */
  readonly contextId?: string;
  /** The id of the agent, if there are several. Default: the first. */
  readonly agent?: string;
  /** The authenticated caller. Default: an anonymous one. */
  readonly caller?: string;
  readonly metadata?: JsonObject;
}

/** A line that was logged during a test. */
export interface TestLogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Settings of `crash`. */
export interface CrashOptions {
  /** The agents after the restart, such as a new version of the code. Default: the same. */
  readonly agents?: Agent | readonly Agent[];
}

/** The id of a task, or a task that was read before. */
export type TaskReference = string | Pick<TestedTask, "id">;

/** Agents that run in a test: with a real engine, a store in memory, and a clock that the test moves. Close it at the end, or declare it with `await using`. */
export interface AgentTest extends AsyncDisposable {
  /** Sends a message and waits until the task has ended or asks a question. */
  send(message: MessageInput, options?: TestSendOptions): Promise<TestedTask>;
  /** Sends a message, and gives the events of the task until it has ended or asks a question. A crash in between loses and repeats none. */
  stream(message: MessageInput, options?: TestSendOptions): AsyncIterable<TestedEvent>;
  /** Sends a message and resolves when it is stored. Together with `advance`: tests of what happens while the agent works. */
  start(message: MessageInput, options?: TestSendOptions): Promise<TestedTask>;
  /** Answers the open question of a task, and waits until the task has ended or asks the next one. Rejects if the task has ended. */
  answer(task: TaskReference, answer: MessageInput): Promise<TestedTask>;
  /** Waits until the task has ended or asks a question. */
  wait(task: TaskReference): Promise<TestedTask>;
  /** The task as it is stored now. */
  get(task: TaskReference): Promise<TestedTask>;
  /** All events of the task so far. */
  log(task: TaskReference): Promise<readonly TestedEvent[]>;
  /** Cancels the task and waits until it has ended. */
  cancel(task: TaskReference): Promise<TestedTask>;
  /**
   * Kills the server as `kill -9` does, and starts it again. What is stored stays; the agent's function runs again, and gets the results of its finished steps, answers and
   * sleeps from the store. Code of the earlier attempt never gets another answer of `task`: it stops at its next `await task.…`.
   */
  crash(options?: CrashOptions): Promise<void>;
  /** Moves the clock forward by these milliseconds. Sleeps, time-outs and deadlines within them end, in their order. */
  advance(milliseconds: number): Promise<void>;
  /** What the agent (`task.log`) and the engine have logged: why a task failed, for example. */
  readonly logs: readonly TestLogLine[];
  /** The time of the fake clock: milliseconds since 1970. `Date.now()` in the agent's own code still has the real time. */
  now(): number;
  /** Stops the agents. */
  close(): Promise<void>;
}
