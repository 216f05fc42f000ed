// Checks of `palaver conformance`: what a caller relies on, tried on a running agent. They send real messages and create tasks. The A2A
// project's kit checks far more.

import type { AgentClient } from "../../client/api.ts";
import { RemoteError, type RemoteErrorCode } from "../../client/http/errors.ts";
import type { Task } from "../../protocol/task.ts";
import type { Session } from "./session.ts";
import { isSettled } from "./wait-for-task.ts";

/** The result of one check. `id` is stable, for scripts. */
export interface CheckResult {
  readonly id: string;
  readonly title: string;
  readonly outcome: "pass" | "fail" | "skip";
  /** Why the check failed or was skipped. */
  readonly detail?: string;
}

/** What the checks share. Later checks use the task of the first message. */
interface Trial {
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly agent: AgentClient;
  readonly text: string;
  /** The task of the first message, if it created one. */
  task?: Task;
}

interface Check {
  readonly id: string;
  readonly title: string;
  /** Why the check does not apply to this agent; `undefined` if it does. */
  readonly skip?: (trial: Trial) => string | undefined;
  /** Throws an error whose message says what is wrong. */
  readonly run: (trial: Trial) => Promise<void>;
}

/** An id that no agent uses. */
const NO_TASK = "00000000-0000-7000-8000-000000000000";

const CHECKS: readonly Check[] = [
  {
    id: "card",
    title: "the agent card exists and is valid",
    async run({ session }) {
      const { problems } = await session.readCard();
      if (problems.length > 0) throw new Error(problems.join("; "));
    },
  },
  {
    id: "send",
    title: "a message is answered with a task or a message",
    async run(trial) {
      const sent = await trial.agent.send(trial.text, { signal: trial.signal });
      if (sent.kind === "message") {
        if (sent.message.parts.length === 0) throw new Error("the message has no parts");
        return;
      }
      if (sent.task.contextId === "") throw new Error("the task has no context");
      trial.task = sent.task;
    },
  },
  {
    id: "get",
    title: "the task can be read",
    skip: withoutTask,
    async run({ agent, signal, task }) {
      const got = await agent.task(task?.id ?? "").get({ signal });
      if (got.id !== task?.id) throw new Error(`the agent returned task ${got.id}`);
      if (got.contextId !== task.contextId) throw new Error("the contextId differs");
    },
  },
  {
    id: "list",
    title: "the task is in the list of its context",
    skip: withoutTask,
    async run({ agent, signal, task }) {
      if (task === undefined) return;
      const { tasks } = await agent.taskPage({ contextId: task.contextId, signal });
      if (!tasks.some(({ id }) => id === task.id)) throw new Error("the list does not contain it");
    },
  },
  {
    id: "get-unknown",
    title: "reading an unknown task fails with TaskNotFoundError",
    run: ({ agent, signal }) => refused("task-not-found", () => agent.task(NO_TASK).get({ signal })),
  },
  {
    id: "cancel-unknown",
    title: "canceling an unknown task fails with TaskNotFoundError",
    run: ({ agent, signal }) => refused("task-not-found", () => agent.task(NO_TASK).cancel({ signal })),
  },
  {
    id: "reply-unknown",
    title: "a message to an unknown task fails with TaskNotFoundError",
    run: ({ agent, signal, text }) => refused("task-not-found", () => agent.send(text, { taskId: NO_TASK, signal })),
  },
  {
    id: "stream",
    title: "a stream starts with the task or a message, and ends with the task",
    skip: ({ agent }) =>
      agent.card.capabilities.streaming === true ? undefined : "the card does not declare streaming",
    async run({ agent, signal, text }) {
      const stream = agent.stream(text, { signal });
      let first: string | undefined;
      for await (const { kind } of stream) first ??= kind;
      if (first !== "task" && first !== "message") throw new Error(`it starts with ${first ?? "nothing"}`);
      const { task } = stream;
      if (task !== undefined && !isSettled(task.status.state))
        throw new Error(`it ended while the task is ${task.status.state}`);
    },
  },
  {
    id: "push-undeclared",
    title: "webhooks are rejected if the card does not declare push notifications",
    skip: (trial) =>
      trial.agent.card.capabilities.pushNotifications === true ? "the card declares them" : withoutTask(trial),
    run: ({ agent, signal, task }) =>
      refused("push-not-supported", () =>
        agent.task(task?.id ?? "").push.create({ url: "https://example.org/" }, { signal }),
      ),
  },
];

function withoutTask({ task }: Trial): string | undefined {
  return task === undefined ? "the agent created no task" : undefined;
}

/** Passes only if the call fails with this error. Any other error fails the check. */
async function refused(code: RemoteErrorCode, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (error instanceof RemoteError && error.code === code) return;
    throw error;
  }
  throw new Error("it was not rejected");
}

/** Milliseconds for one check. `--timeout` limits the whole command. */
const CHECK_TIMEOUT = 60_000;

/** Runs the checks one after the other. */
export async function runChecks(session: Session, text: string): Promise<readonly CheckResult[]> {
  const trial: Trial = { session, signal: session.signal, agent: await session.connect(), text };
  const results: CheckResult[] = [];
  for (const check of CHECKS) {
    session.progress.say(check.title);
    results.push(await resultOf(check, trial));
  }
  return results;
}

async function resultOf({ id, title, skip, run }: Check, trial: Trial): Promise<CheckResult> {
  const reason = skip?.(trial);
  if (reason !== undefined) return { id, title, outcome: "skip", detail: reason };
  const limit = AbortSignal.timeout(CHECK_TIMEOUT);
  const limited: Trial = { ...trial, signal: AbortSignal.any([trial.signal, limit]) };
  try {
    await run(limited);
    if (limited.task !== undefined) trial.task = limited.task;
    return { id, title, outcome: "pass" };
  } catch (error) {
    if (trial.signal.aborted) throw error;
    const detail = limit.aborted ? "it took too long" : error instanceof Error ? error.message : String(error);
    return { id, title, outcome: "fail", detail };
  }
}
