import { questionOf } from "../../client/answer-question.ts";
import type { Question } from "../../client/api.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import { textOf } from "../../protocol/part.ts";
import { isInterrupted, type TaskState } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";

/** A task of a test, as it was stored when it was read. */
export interface TestedTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** The text of all artifacts, each on a line of its own. Files and data are in `artifacts`. */
  readonly text: string;
  /** The text of the status: what the agent does, asks, or why it failed. */
  readonly statusText: string;
  /** The open question, if the task waits for an answer. */
  readonly question?: Question;
  readonly artifacts: readonly Artifact[];
  /** Everything else: history, metadata, times. */
  readonly task: Task;
}

/** An event of a task's log, and its number: 1 for the first. */
export type TestedEvent = TaskEvent & { readonly seq: number };

export function testedTask(task: Task): TestedTask {
  const { id, contextId, status, artifacts = [] } = task;
  return {
    id,
    contextId,
    state: status.state,
    text: artifacts
      .map(({ parts }) => textOf(parts))
      .filter((text) => text !== "")
      .join("\n"),
    statusText: textOf(status.message?.parts ?? []),
    ...(isInterrupted(status.state) && { question: questionOf(task) }),
    artifacts,
    task,
  };
}
