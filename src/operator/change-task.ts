import { A2AError } from "../protocol/error.ts";
import type { MessageId, TaskId } from "../protocol/ids.ts";
import type { Part } from "../protocol/part.ts";
import type { Principal } from "../protocol/principal.ts";
import { isInterrupted } from "../protocol/state.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { OperatorParts } from "./contract.ts";
import { shownTask } from "./list-tasks.ts";
import { recordOf } from "./read-task.ts";

/** Cancels a task of any caller, as the caller could, and returns it after its end. Rejects with `task-not-found` or `task-not-cancelable`. */
export async function cancelTask(parts: OperatorParts, key: TaskId): Promise<object> {
  const { id, scope } = await recordOf(parts, key, 0);
  const result = await parts.engine.cancel(scope, publicTaskId(id));
  if (result === "not-found") throw new A2AError("task-not-found", "Task not found");
  if (result === "too-late") throw new A2AError("task-not-cancelable", "The task has ended and cannot be canceled");
  return { task: shownTask(await recordOf(parts, key, 0)) };
}

/** An answer to the question of a task. */
export interface OperatorAnswer {
  readonly parts: readonly Part[];
  /** Who answers. */
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/**
 * Answers the question that a task asks its caller, and returns the task. The message is stored with the task as every answer is, with
 * `metadata.answeredBy`. Rejects with `task-not-found`; `unsupported-operation` if the task asks nothing; `task-changed` if it asks something
 * else by now.
 */
export async function answerTask(parts: OperatorParts, key: TaskId, answer: OperatorAnswer): Promise<object> {
  const { principal, signal } = answer;
  const { id, scope, contextId, dialect, head, seq } = await recordOf(parts, key, 0);
  if (!isInterrupted(head.state))
    throw new A2AError("unsupported-operation", `The task asks no question: its state is ${head.state}`);
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
        metadata: { answeredBy: principal.id },
      },
      metadata: {},
      outputModes: [],
      expectedSeq: seq,
    },
  });
  if (submitted.kind === "task") {
    await submitted.ticket.stored();
    await submitted.ticket.consumed({ signal });
  }
  return { task: shownTask(await recordOf(parts, key, 0)) };
}
