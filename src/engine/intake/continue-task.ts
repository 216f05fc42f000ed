import { uuidv7 } from "../../internal/uuid.ts";
import { A2AError, invalidField, taskChanged } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { namedRequests } from "../../protocol/input-request.ts";
import type { Message } from "../../protocol/message.ts";
import { isInterrupted } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { InboxEntry, InboxPost, Outcome } from "../../store/contract.ts";
import { type Agent, TaskAborted } from "../agent/agent.ts";
import type { Submission, Submitted } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import type { PostedMessage } from "../read/posted-message.ts";
import { idempotencyEntryId, idempotencyEntryPrefix } from "../record/idempotency-entry.ts";
import { readInboxMessage, writeInboxMessage } from "../record/inbox-message.ts";
import { isNamed, type PendingQuestion, type Questions, readRunner } from "../record/runner-record.ts";
import { openSealed } from "../record/seal.ts";
import { skillNamed } from "../run/turn.ts";
import { answerTargets } from "./answer-target.ts";
import { type EarlierMessage, findEarlierMessage, type Idempotency } from "./idempotency.ts";
import { checkSize } from "./message-size.ts";
import { setWebhook } from "./message-webhook.ts";
import { refusedTask, taskNotFound } from "./refused-task.ts";
import { MessageTicket } from "./ticket.ts";

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
    const earlier = await findEarlier(parts, feed, message);
    const posted =
      earlier === undefined
        ? await postUnlessRepeated(parts, feed, message)
        : repeated(parts, feed, { message: message.submission.request.message, earlier });
    return { kind: "task", ticket: new MessageTicket(parts, feed, { posted }) };
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

/** An earlier send of the same message to this task; `undefined` without idempotency. */
async function findEarlier(
  parts: EngineParts,
  { task }: Feed,
  { submission, idempotency }: Continuation,
): Promise<EarlierMessage | undefined> {
  if (idempotency === undefined) return undefined;
  const { messageId } = submission.request.message;
  return findEarlierMessage(parts, task.id, { messageId, digest: idempotency.digest });
}

async function postUnlessRepeated(parts: EngineParts, feed: Feed, message: Continuation): Promise<PostedMessage> {
  try {
    return await post(parts, feed, message);
  } catch (error) {
    // Another node may have stored the same message first, and that message may have ended the task.
    const earlier = error instanceof A2AError ? await findEarlier(parts, feed, message) : undefined;
    if (earlier === undefined) throw error;
    return repeated(parts, feed, { message: message.submission.request.message, earlier });
  }
}

interface Repeated {
  readonly message: Message;
  readonly earlier: EarlierMessage;
}

/**
 * A message that an earlier send stored, consumed or not. It answers the open questions that it answered the first time, so that its sender
 * waits for nothing that the run does not do. While the task works, the message waits for the next question or the end.
 */
function repeated(parts: EngineParts, feed: Feed, { message, earlier }: Repeated): PostedMessage {
  const open = isInterrupted(feed.state) ? (feed.questions?.open ?? []) : [];
  const named = namedRequests(message).map(({ id }) => id);
  const stored = named.length > 0 ? undefined : storedAnswers(parts, feed, earlier);
  const isAnswered = (question: PendingQuestion): boolean => {
    if (named.length > 0) return named.some((name) => isNamed(question, name));
    return stored?.includes(question.id) ?? question.before?.includes(earlier.id) !== true;
  };
  const answers = open.filter(isAnswered).map(({ id }) => id);
  // Only a message that arrived before the open question, and does not answer it, has nothing to wait for.
  const waits = answers.length > 0 || !isInterrupted(feed.state);
  return { inbox: earlier.id, answers, ...(waits && { asked: feed.interruptedAt }) };
}

/** The questions that an unread message answers, as stored with it. `undefined`: it was read, or an earlier release stored it. */
function storedAnswers(
  { environment }: EngineParts,
  { task }: Feed,
  { waiting }: EarlierMessage,
): readonly string[] | undefined {
  if (waiting === undefined) return undefined;
  const body = waiting.sealed ? openSealed(environment.sealer, waiting.body, task.id) : waiting.body;
  return body === undefined ? undefined : readInboxMessage(body).answers;
}

async function post(parts: EngineParts, feed: Feed, continuation: Continuation): Promise<PostedMessage> {
  const { agent, submission, idempotency, mayAnswer } = continuation;
  const { feeds, environment } = parts;
  const { call, request, admitSkill, webhook } = submission;
  const { message } = request;
  const { id } = feed.task;
  await requireOpen(parts, feed, submission);
  if (admitSkill !== undefined) {
    const skill = skillNamed(agent, message)?.id ?? (await currentSkill(parts, id));
    if (skill !== undefined) admitSkill(skill);
  }
  // Another node may have asked a question meanwhile, and its answer may have to be sealed.
  await feeds.refresh([id]);
  if (mayAnswer?.(feed.questions, message) === false) throw notAsked(id);
  // Conclusive, because the seq never falls; the store decides whether the task has changed otherwise.
  const { expectedSeq = Number.POSITIVE_INFINITY } = request;
  if (feed.seq > expectedSeq) throw taskChanged(expectedSeq, feed.seq);
  const targets = answerTargets(feed.questions, message);
  const answers = targets.map((question) => question.id);
  const isNaming = namedRequests(message).length > 0;
  const body = writeInboxMessage({
    message: { ...message, taskId: publicTaskId(id), contextId: feed.task.contextId },
    callPath: call.callPath,
    ...(!isNaming && { answers }),
  });
  checkSize(environment.limits, body);
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
  const uniquePrefix = idempotency === undefined ? undefined : idempotencyEntryPrefix(message.messageId);
  const after = feed.seq;
  const outcome = await deliver(parts, id, { entry, uniquePrefix, expectedSeq: request.expectedSeq });
  if (outcome.status === "ok") return { inbox: entry.id, after, asked, answers };
  // Another node stored the same message first, perhaps as the answer to another question, or with other content.
  if (outcome.status === "duplicate" && idempotency !== undefined) {
    const earlier = await findEarlier(parts, feed, continuation);
    return repeated(parts, feed, { message, earlier: earlier ?? { id: entry.id, waiting: undefined } });
  }
  await undo?.();
  if (outcome.status === "changed") throw taskChanged(expectedSeq, outcome.seq);
  throw refusal(outcome, id, environment.limits.maxInbox);
}

async function requireOpen(parts: EngineParts, feed: Feed, { request }: Submission): Promise<void> {
  const { runs, environment } = parts;
  const { task } = feed;
  // A task that was created a moment ago must be stored before a message is posted to it.
  const writer = runs.writer(task.id);
  if (writer !== undefined && !writer.isStored) {
    await writer.flush().catch((cause: unknown) => {
      throw refusedTask(writer.loss, cause);
    });
  }
  if (feed.ended) {
    const { expectedSeq = feed.seq } = request;
    throw expectedSeq === feed.seq ? taskEnded(task.id, feed.state) : taskChanged(expectedSeq, feed.seq);
  }
  if (request.message.contextId !== undefined && request.message.contextId !== task.contextId) {
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

function deliver(
  { committer, environment, runs }: EngineParts,
  task: TaskId,
  { entry, ...conditions }: Pick<InboxPost, "entry" | "uniquePrefix" | "expectedSeq">,
): Promise<Outcome> {
  const { maxInbox } = environment.limits;
  return committer.submit({ kind: "post", task, entry, maxWaiting: maxInbox, ...conditions }, (known) => {
    if (known.status === "ok") runs.deliver(task, entry, known.node);
  });
}

function refusal({ status }: Outcome, id: TaskId, maxInbox: number): A2AError {
  if (status === "ended") return taskEnded(id, undefined);
  if (status !== "full") return taskNotFound(id);
  return new A2AError("resource-exhausted", `The task already has ${maxInbox} unread messages; try again in 5 s.`, {
    retryAfter: 5,
  });
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
