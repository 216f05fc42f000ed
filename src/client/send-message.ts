import type { TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import { isInterrupted, isTerminal } from "../protocol/state.ts";
import type { Task, TaskStatus } from "../protocol/task.ts";
import { type AgentHost, unexpected } from "./agent-host.ts";
import { answerQuestion, canAnswer } from "./answer-question.ts";
import type { MessageInput, SendOptions, Sent } from "./api.ts";
import { TaskFollower } from "./follow/follow.ts";
import { isSameStatus, TaskView } from "./follow/task-view.ts";
import { RemoteError } from "./http/errors.ts";
import { messageOf, sendRequest, withoutCondition } from "./message-input.ts";
import { within } from "./within.ts";

/** Sends a message and waits for the result, answering questions with `tools` and `onInput`. */
export function sendMessage(host: AgentHost, input: MessageInput, options: SendOptions): Promise<Sent> {
  const { wait = true, signal, timeout, trace } = options;
  let taskId = options.taskId;
  const limits = {
    signal,
    trace,
    timeout: timeout ?? (wait ? Number.POSITIVE_INFINITY : undefined),
    taskId: () => taskId,
  };
  const known = (id: string): void => {
    taskId = id;
  };
  return within(host, limits, async (deadline) => {
    let message = messageOf(input, options);
    let answered: TaskStatus | undefined;
    let turn = options;
    for (;;) {
      const sent = await sendOnce(host, { message, options: turn, signal: deadline, answered, known });
      if (sent.kind === "message" || !wait) return sent;
      const { task } = sent;
      if (task.status.state !== "input-required" || !canAnswer(options)) return sent;
      const answer = await answerQuestion(task, options, deadline);
      if (answer === undefined) return sent;
      answered = task.status;
      turn = withoutCondition(options);
      message = messageOf(answer, { taskId: task.id, contextId: task.contextId });
    }
  });
}

/** One message of the conversation that `sendMessage` has with the agent. */
interface Turn {
  readonly message: Message;
  readonly options: SendOptions;
  readonly signal: AbortSignal;
  /** The question that the message answers, if known. */
  readonly answered: TaskStatus | undefined;
  /** Called with the id of the task as soon as the agent gives it. */
  readonly known: (taskId: string) => void;
}

/** If the agent answers before the task has settled, the task is followed: some dialects cannot wait, and some agents do not. */
async function sendOnce(host: AgentHost, { message, options, signal, answered, known }: Turn): Promise<Sent> {
  const { wait = true } = options;
  const before = answered ?? (wait ? await questionBefore(host, message, signal) : undefined);
  const waitMs = wait ? Number.POSITIVE_INFINITY : 0;
  const request = sendRequest(message, options, { operation: "send", tenant: host.tenant, waitMs });
  const result = await host.send(request, signal);
  if (result.kind === "replied") return { kind: "message", message: result.message };
  if (result.kind !== "sent" && result.kind !== "task") throw unexpected(result);
  const { task } = result;
  known(task.id);
  if (!wait || isSettled(task.status, before)) return { kind: "task", task };
  const { historyLength: history } = options;
  return { kind: "task", task: await settledTask(host, task.id, { signal, answered: before, history }) };
}

/** The question before a reply. If sends do not wait, the task may still show the answered question afterwards. */
async function questionBefore(
  host: AgentHost,
  { taskId }: Message,
  signal: AbortSignal,
): Promise<TaskStatus | undefined> {
  if (taskId === undefined || host.channel.dialect.waits) return undefined;
  try {
    const { status } = await host.get(taskId, signal);
    return isInterrupted(status.state) ? status : undefined;
  } catch (thrown) {
    // In 0.1 the client chooses the task id, so the task may not exist yet.
    if (thrown instanceof RemoteError && thrown.code === "task-not-found") return undefined;
    throw thrown;
  }
}

/** The question that was just answered does not count: the agent may not have seen the answer yet. */
function isSettled(status: TaskStatus, answered: TaskStatus | undefined): boolean {
  if (isTerminal(status.state)) return true;
  return isInterrupted(status.state) && !(answered !== undefined && isSameStatus(answered, status));
}

/** How to wait for a task. */
export interface Settling {
  readonly signal: AbortSignal;
  /** The answered question: it does not end the wait. */
  readonly answered?: TaskStatus | undefined;
  /** How many messages the task includes. `undefined`: the agent chooses. */
  readonly history?: number | undefined;
}

/** Resolves with the task once it is finished or asks a question. */
export async function settledTask(host: AgentHost, id: TaskId, { signal, answered, history }: Settling): Promise<Task> {
  const follower = new TaskFollower({
    host,
    // The whole task is fetched at the end.
    view: new TaskView({ result: "none" }),
    signal,
    stopsAt: isInterrupted,
    answered,
  });
  for await (const _ of follower.subscribe(id));
  return host.get(id, signal, history);
}
