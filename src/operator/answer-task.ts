import { readInboxMessage } from "../engine/record/inbox-message.ts";
import { authRequestOf } from "../protocol/auth-request-part.ts";
import { A2AError } from "../protocol/error.ts";
import type { MessageId, TaskId } from "../protocol/ids.ts";
import { answerMetadata, inputRequestsOf } from "../protocol/input-request.ts";
import type { Message } from "../protocol/message.ts";
import type { Part } from "../protocol/part.ts";
import type { Principal } from "../protocol/principal.ts";
import { readMessage, readStatus } from "../protocol/serial.ts";
import { isInterrupted } from "../protocol/state.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { TaskRecord } from "../store/contract.ts";
import type { OperatorParts } from "./contract.ts";
import { shownTask } from "./list-tasks.ts";
import { recordOf } from "./read-task.ts";

/** An answer to the question of a task. */
export interface OperatorAnswer {
  readonly parts: readonly Part[];
  /** The question that is answered. Absent: the one that is open. */
  readonly requestId?: string | undefined;
  /** The last event that the person has seen. Absent: the answer is for whatever the task asks now. */
  readonly seq?: number | undefined;
  /** Who answers. */
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** How often an answer is sent again because the task wrote something else while its question stayed open. */
const TRIES = 3;
/** Characters of another person's answer in an error. */
const MAX_TEXT = 500;

/**
 * Answers the question that a task asks its caller, and returns the task. The message is stored with the task as every answer is, with
 * `metadata.answeredBy`. Rejects with `task-not-found`; `unsupported-operation` if the task asks nothing; `task-changed` if it asks something
 * else by now, or somebody else has answered: then `metadata` says who (`answeredBy`) and what (`answer`).
 */
export async function answerTask(parts: OperatorParts, key: TaskId, answer: OperatorAnswer): Promise<object> {
  for (let left = TRIES; ; left -= 1) {
    const record = await recordOf(parts, key, 0);
    const isOpen = isInterrupted(record.head.state) && asksFor(record, answer);
    if (!isOpen) throw await refusal(parts, record, answer);
    try {
      await submitAnswer(parts, record, answer);
      return { task: shownTask(await recordOf(parts, key, 0)) };
    } catch (error) {
      if (!(error instanceof A2AError) || error.code !== "task-changed") throw error;
      // The task has written something else; or somebody was faster.
      const taken = await takenAnswer(parts, await recordOf(parts, key, 0), record.seq);
      if (taken !== undefined || left === 1) throw changed(taken, error);
    }
  }
}

/** Whether the question that the person has seen is open. */
function asksFor({ head, seq }: TaskRecord, answer: OperatorAnswer): boolean {
  if (answer.requestId === undefined) return answer.seq === undefined || answer.seq === seq;
  const { message } = readStatus(head.status);
  const authorizations = (message?.parts ?? []).flatMap((part) => authRequestOf(part) ?? []);
  return [...inputRequestsOf(message), ...authorizations].some(({ requestId }) => requestId === answer.requestId);
}

async function submitAnswer(parts: OperatorParts, record: TaskRecord, answer: OperatorAnswer): Promise<void> {
  const { principal, signal, requestId } = answer;
  const { id, scope, contextId, dialect, seq } = record;
  const submitted = await parts.engine.submit({
    scope,
    call: {
      ...{ principal, signal, dialect, activeExtensions: [] },
      policy: { namesTasks: false, tasksOnly: true },
    },
    request: {
      operation: "send",
      message: {
        // Safe: a new id.
        messageId: crypto.randomUUID() as MessageId,
        role: "user",
        parts: answer.parts,
        taskId: publicTaskId(id),
        contextId,
        metadata: { ...(requestId !== undefined && answerMetadata(requestId)), answeredBy: principal.id },
      },
      metadata: {},
      outputModes: [],
      expectedSeq: seq,
    },
  });
  if (submitted.kind !== "task") return;
  await submitted.ticket.stored();
  await submitted.ticket.consumed({ signal });
}

/** Why a task cannot be answered. */
async function refusal(parts: OperatorParts, record: TaskRecord, { seq }: OperatorAnswer): Promise<A2AError> {
  const taken = seq === undefined ? undefined : await takenAnswer(parts, record, seq);
  if (taken !== undefined || isInterrupted(record.head.state)) return changed(taken);
  return new A2AError("unsupported-operation", `The task asks no question: its state is ${record.head.state}`);
}

function changed(taken: TakenAnswer | undefined, cause?: A2AError): A2AError {
  if (taken === undefined)
    return (
      cause ?? new A2AError("task-changed", "The task has asked another question in the meantime; read the task again")
    );
  const metadata = { answeredBy: taken.by, ...(taken.text !== "" && { answer: taken.text }) };
  return new A2AError("task-changed", `${taken.by} has answered first`, { metadata });
}

/** The answer that was taken instead. */
interface TakenAnswer {
  readonly by: string;
  /** Empty if the answer is a secret, or has no text and no data. */
  readonly text: string;
}

/** The first answer after an event: read by the task already, or waiting for it. */
async function takenAnswer(
  { store }: OperatorParts,
  { id, scope }: TaskRecord,
  seq: number,
): Promise<TakenAnswer | undefined> {
  const { history = [] } = (await store.get(id, { artifacts: false, largeBytes: 1_000_000 })) ?? {};
  const read = history.find(({ after, inbox }) => after >= seq && inbox !== undefined);
  if (read !== undefined) return answerIn(readMessage(read.body), scope.owner);
  const waiting = (await store.inbox(id)).find(({ kind }) => kind === "message");
  if (waiting === undefined) return undefined;
  return waiting.sealed
    ? { by: "Another person", text: "" }
    : answerIn(readInboxMessage(waiting.body).message, scope.owner);
}

function answerIn({ parts, metadata }: Message, owner: string): TakenAnswer {
  const by = metadata?.["answeredBy"];
  const texts = parts.map(({ text, data }) => text ?? (data === undefined ? "" : JSON.stringify(data)));
  return { by: typeof by === "string" ? by : owner, text: texts.join(" ").trim().slice(0, MAX_TEXT) };
}
