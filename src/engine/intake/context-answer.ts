import { A2AError } from "../../protocol/error.ts";
import { namedRequests } from "../../protocol/input-request.ts";
import type { Message } from "../../protocol/message.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { ListQuery, Store, TaskRecord } from "../../store/contract.ts";
import type { Submission, Submitted } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import { idempotencyEntryPrefix } from "../record/idempotency-entry.ts";
import { isNamed, type PendingQuestion, type Questions, readRunner } from "../record/runner-record.ts";
import { skillNamed } from "../run/turn.ts";
import { type Continuation, continueTask } from "./continue-task.ts";

/** How many tasks of the context, newest status first, are searched for an earlier send of the same message. */
const MAX_SEARCHED = 20;

/**
 * Whether the message has a context id and no task id, so that it may answer a question of a task in that context. A message with a call path
 * comes from an agent that sends a task id with its answers: without one, it starts a new task.
 */
export function namesContextOnly({ answersByContext, call, request }: Submission): boolean {
  if (answersByContext !== true || (call.callPath ?? []).length > 0) return false;
  const { message } = request;
  return message.contextId !== undefined && message.taskId === undefined;
}

/**
 * Continues the caller's only `input-required` task in the message's context, if the message may answer its question. Resolves with `undefined`
 * if there is no such task: the message then starts a new task.
 */
export async function continueByContext(parts: EngineParts, message: Continuation): Promise<Submitted | undefined> {
  const { contextId } = message.submission.request.message;
  if (contextId === undefined) return undefined;
  const record = await findTask(parts, message, { contextId, artifacts: false, history: 0 });
  if (record === undefined) return undefined;
  try {
    return await continueTask(parts, parts.feeds.of(record), { ...message, mayAnswer: mayAnswerByContext });
  } catch (error) {
    // The task ended, or its question was answered, since it was found.
    if (error instanceof A2AError && (error.code === "unsupported-operation" || error.code === "task-not-found"))
      return undefined;
    throw error;
  }
}

/**
 * Whether a message without a task id may answer these questions: it refers to open questions by request id, or exactly one question is open.
 * A question for an authorisation, a secret or the approval of a tool call is never answered without the task id.
 */
export function mayAnswerByContext(questions: Questions | undefined, message: Message): boolean {
  const open = questions?.open ?? [];
  const named = namedRequests(message);
  if (named.length === 0) return open.length === 1 && open.every(isOrdinary);
  return named.every(({ id }) => open.some((question) => isNamed(question, id) && isOrdinary(question)));
}

function isOrdinary({ auth, sensitive, approval }: PendingQuestion): boolean {
  return auth !== true && sensitive !== true && approval !== true;
}

type InContext = Pick<ListQuery, "contextId" | "artifacts" | "history">;

async function findTask(
  { store }: EngineParts,
  { agent, submission, idempotency }: Continuation,
  inContext: InContext,
): Promise<TaskRecord | undefined> {
  const { scope, request } = submission;
  const { message, metadata } = request;
  const { tasks } = await store.list({ ...inContext, scope, state: "input-required", limit: 2 });
  // Searched second: a message that another node posts between the two searches is found.
  const earlier =
    idempotency === undefined
      ? undefined
      : await findEarlierSend(store, { ...inContext, scope, limit: MAX_SEARCHED }, message.messageId);
  if (earlier !== undefined) return earlier;
  const [waiting, another] = tasks;
  if (waiting === undefined || another !== undefined) return undefined;
  const { questions, skill } = readRunner(waiting.head.runner);
  const wanted = skillNamed(agent, message, metadata)?.id;
  const isOtherSkill = wanted !== undefined && wanted !== skill;
  return !isOtherSkill && mayAnswerByContext(questions, message) ? waiting : undefined;
}

/** The task in which an earlier send of this message id was stored. */
async function findEarlierSend(store: Store, query: ListQuery, messageId: string): Promise<TaskRecord | undefined> {
  const prefix = idempotencyEntryPrefix(messageId);
  const isSame = (id: string | undefined): boolean => id?.startsWith(prefix) === true;
  const { tasks } = await store.list({ ...query, history: undefined });
  for (const record of tasks) {
    if (record.history.some(({ inbox }) => isSame(inbox))) return record;
    if (readRunner(record.head.runner).consumedSealed?.some(isSame) === true) return record;
    if (isTerminal(record.head.state)) continue;
    if ((await store.inbox(record.id)).some(({ id }) => isSame(id))) return record;
  }
  return undefined;
}
