import { uuidv7 } from "../../internal/uuid.ts";
import { A2AError, invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { namedRequests } from "../../protocol/input-request.ts";
import type { Message } from "../../protocol/message.ts";
import { isInterrupted } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { InboxEntry, Outcome } from "../../store/contract.ts";
import { type Agent, TaskAborted } from "../agent/agent.ts";
import type { Submission, Submitted, Ticket } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import { ticketOf } from "../read/ticket.ts";
import { idempotencyEntryId } from "../record/idempotency-entry.ts";
import { writeInboxMessage } from "../record/inbox-message.ts";
import { isNamed, type Questions, readRunner } from "../record/runner-record.ts";
import { skillNamed } from "../run/turn.ts";
import { answerTargets } from "./answer-target.ts";
import { findEarlierMessage, type Idempotency } from "./idempotency.ts";
import { checkSize } from "./message-size.ts";
import { setWebhook } from "./message-webhook.ts";
import { refusedTask } from "./refused-task.ts";

export interface Continuation {
  readonly agent: Agent;
  readonly submission: Submission;
  readonly idempotency: Idempotency | undefined;
  /** For a message without a task id: whether it may answer the task's open questions. */
  readonly mayAnswer?: (questions: Questions | undefined, message: Message) => boolean;
}

/**
 * Posts a message to the inbox of an existing task and releases the feed, which the caller holds. Rejects with `unsupported-operation` if the
 * task has ended, `invalid-params`, `resource-exhausted` if the inbox or the history is full, or `unavailable` if the store fails.
 */
export async function continueTask(parts: EngineParts, feed: Feed, message: Continuation): Promise<Submitted> {
  try {
    const inbox = await findEarlierEntry(parts, feed, message);
    const posted =
      inbox === undefined ? await postUnlessRepeated(parts, feed, message) : repeated(feed, message, inbox);
    return { kind: "task", ticket: { ...ticketOf(feed.task), ...posted } };
  } catch (error) {
    if (error instanceof A2AError || error instanceof TaskAborted) throw error;
    throw new A2AError("unavailable", "The message could not be stored; try again in 5 s.", {
      cause: error,
      retryAfter: 5,
    });
  } finally {
    parts.feeds.release(feed);
  }
}

/** The inbox entry of an earlier send of the same message; `undefined` without idempotency. */
async function findEarlierEntry(
  parts: EngineParts,
  { task }: Feed,
  { submission, idempotency }: Continuation,
): Promise<string | undefined> {
  if (idempotency === undefined) return undefined;
  const { messageId } = submission.message;
  return findEarlierMessage(parts, task.id, { messageId, digest: idempotency.digest });
}

/** The members of a ticket for a message in an inbox. */
type Posted = Pick<Ticket, "asked" | "answers"> & { readonly inbox: string };

async function postUnlessRepeated(parts: EngineParts, feed: Feed, message: Continuation): Promise<Posted> {
  try {
    return await post(parts, feed, message);
  } catch (error) {
    // Another node may have stored the same message first, and that message may have ended the task.
    const earlier = error instanceof A2AError ? await findEarlierEntry(parts, feed, message) : undefined;
    if (earlier === undefined) throw error;
    return repeated(feed, message, earlier);
  }
}

/**
 * The ticket of a message that an earlier send stored, consumed or not. It answers the open questions it refers to by request id; without
 * request ids, the open questions that were asked before it arrived. While the task works, the message waits for the next question or the end.
 */
function repeated(feed: Feed, { submission: { message } }: Continuation, inbox: string): Posted {
  const named = namedRequests(message).map(({ id }) => id);
  const open = isInterrupted(feed.state) ? (feed.questions?.open ?? []) : [];
  const answered = open.filter((question) =>
    named.length > 0 ? named.some((name) => isNamed(question, name)) : question.before?.includes(inbox) !== true,
  );
  // Only a message that arrived before the open question, and does not answer it, has nothing to wait for.
  const waits = answered.length > 0 || !isInterrupted(feed.state);
  return { inbox, answers: answered.map(({ id }) => id), ...(waits && { asked: feed.interruptedAt }) };
}

async function post(parts: EngineParts, feed: Feed, continuation: Continuation): Promise<Posted> {
  const { agent, submission, idempotency, mayAnswer } = continuation;
  const { feeds, environment } = parts;
  const { message, admitSkill, webhook } = submission;
  const { id } = feed.task;
  await requireOpen(parts, feed, submission);
  if (admitSkill !== undefined) {
    const skill = skillNamed(agent, message)?.id ?? (await currentSkill(parts, id));
    if (skill !== undefined) admitSkill(skill);
  }
  const body = writeInboxMessage(
    { ...message, taskId: publicTaskId(id), contextId: feed.task.contextId },
    submission.callPath,
  );
  checkSize(environment.limits, body);
  // Another node may have asked a question meanwhile, and its answer may have to be sealed.
  await feeds.refresh([id]);
  if (mayAnswer?.(feed.questions, message) === false) throw notAsked(id);
  const targets = answerTargets(feed.questions, message);
  const answers = targets.map((question) => question.id);
  // The message does not answer questions that become visible after this point.
  const asked = feed.interruptedAt;
  const undo = webhook === undefined ? undefined : await setWebhook(parts, feed, webhook);
  const sealed = targets.some(({ sensitive }) => sensitive === true);
  const entry: InboxEntry = {
    id: idempotency === undefined ? uuidv7() : idempotencyEntryId(message.messageId, idempotency.digest),
    kind: "message",
    body: sealed ? environment.sealer.seal(body, id) : body,
    sealed,
    at: environment.clock.now(),
  };
  const outcome = await deliver(parts, id, { entry, answers });
  // Another node stored the same message first.
  const isRepeated = outcome.status === "duplicate" && idempotency !== undefined;
  if (outcome.status !== "ok" && !isRepeated) {
    await undo?.();
    throw refusal(outcome, id, environment.limits.maxInbox);
  }
  return { inbox: entry.id, asked, answers };
}

async function requireOpen(parts: EngineParts, feed: Feed, { message }: Submission): Promise<void> {
  const { runs, environment } = parts;
  const { task } = feed;
  // A task that was created a moment ago must be stored before a message is posted to it.
  const writer = runs.writer(task.id);
  if (writer !== undefined && !writer.isStored) {
    await writer.flush().catch((cause: unknown) => {
      throw refusedTask(writer.loss, cause);
    });
  }
  if (feed.ended) throw taskEnded(task.id, feed.state);
  if (message.contextId !== undefined && message.contextId !== task.contextId) {
    throw invalidField("message.contextId", "is not the context of the task in message.taskId");
  }
  if (runs.writer(task.id)?.historyIsFull ?? (await isHistoryFull(parts, task.id))) {
    throw new A2AError(
      "resource-exhausted",
      `The task has reached its limit of ${environment.limits.maxHistory} messages.`,
    );
  }
}

/** The skill that handles the task. A caller who may not use this skill may not answer its questions. */
async function currentSkill({ runs, store }: EngineParts, id: TaskId): Promise<string | undefined> {
  const writer = runs.writer(id);
  if (writer !== undefined) return writer.runner.skill;
  const record = await store.get(id, { artifacts: false, history: 0 });
  return record === undefined ? undefined : readRunner(record.head.runner).skill;
}

/** For a task without a writer in this process. */
async function isHistoryFull({ store, environment }: EngineParts, id: TaskId): Promise<boolean> {
  const record = await store.get(id, { artifacts: false });
  return (record?.history.length ?? 0) >= environment.limits.maxHistory;
}

interface Delivery {
  readonly entry: InboxEntry;
  /** Request ids of the questions that the entry answers. */
  readonly answers: readonly string[];
}

function deliver(
  { committer, environment, runs }: EngineParts,
  task: TaskId,
  { entry, answers }: Delivery,
): Promise<Outcome> {
  const { maxInbox } = environment.limits;
  return committer.submit({ kind: "post", task, entry, maxWaiting: maxInbox }, (known) => {
    if (known.status !== "ok") return;
    runs.writer(task)?.noteAnswers(entry, answers);
    runs.deliver(task, entry, known.node);
  });
}

function refusal({ status }: Outcome, id: TaskId, maxInbox: number): A2AError {
  if (status === "ended") return taskEnded(id, undefined);
  if (status !== "full") return taskNotFound(id);
  return new A2AError("resource-exhausted", `The task already has ${maxInbox} unread messages; try again in 5 s.`, {
    retryAfter: 5,
  });
}

export function taskNotFound(id: TaskId): A2AError {
  return new A2AError("task-not-found", "Task not found", { metadata: { taskId: publicTaskId(id) } });
}

function notAsked(id: TaskId): A2AError {
  return new A2AError("unsupported-operation", "The task has no question that this message may answer.", {
    metadata: { taskId: publicTaskId(id) },
  });
}

function taskEnded(id: TaskId, state: string | undefined): A2AError {
  return new A2AError(
    "unsupported-operation",
    `The task is finished${state === undefined ? "" : ` (${state})`}; send the message without a task id to start a new task.`,
    { metadata: { taskId: publicTaskId(id), state: state ?? "unknown" } },
  );
}
