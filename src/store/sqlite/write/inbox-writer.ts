import type { InboxPost, Outcome } from "../../contract.ts";
import { DUPLICATE, ENDED, FULL, OK } from "../../outcomes.ts";
import type { OpenTask } from "./open-task.ts";
import type { TaskStatements } from "./task-statements.ts";

type InboxStatements = Pick<TaskStatements, "insertInbox" | "deleteInbox" | "messageAfter" | "selectConsumed">;

/** Adds an entry to the inbox of a task. */
export function post(statements: InboxStatements, task: OpenTask, command: InboxPost): Outcome {
  const { entry, maxWaiting, uniquePrefix, expectedSeq } = command;
  if (task.ended) return expectedSeq === undefined || expectedSeq === task.seq ? ENDED : changed(task);
  if (task.inbox.has(entry.id)) return DUPLICATE;
  if (uniquePrefix !== undefined && hasMessage(statements, task, uniquePrefix)) return DUPLICATE;
  if (expectedSeq !== undefined && hasChanged(statements, task, expectedSeq)) return changed(task);
  const isMessage = entry.kind === "message";
  if (isMessage && task.waiting >= maxWaiting) return FULL;
  statements.insertInbox.run(task.pk, entry.id, isMessage ? 0 : 1, entry.sealed ? 1 : 0, entry.at, entry.body);
  task.inbox.set(entry.id, isMessage);
  if (isMessage) task.waiting += 1;
  return task.node === undefined ? OK : { status: "ok", node: task.node };
}

/** Whether a message whose entry id begins so waits or was consumed. */
function hasMessage({ selectConsumed }: InboxStatements, task: OpenTask, prefix: string): boolean {
  for (const id of task.inbox.keys()) if (id.startsWith(prefix)) return true;
  return selectConsumed.get(task.pk, prefix, prefix) !== undefined;
}

/** Whether the task has events, or has accepted messages, after this seq. */
function hasChanged({ messageAfter }: InboxStatements, task: OpenTask, seq: number): boolean {
  return task.seq !== seq || task.waiting > 0 || messageAfter.get(task.pk, seq) !== undefined;
}

function changed({ seq }: OpenTask): Outcome {
  return { status: "changed", seq };
}

/** Removes entries that a write consumes. */
export function take(statements: InboxStatements, task: OpenTask, taken: readonly string[]): void {
  for (const id of taken) {
    const isMessage = task.inbox.get(id);
    if (isMessage === undefined) continue;
    task.inbox.delete(id);
    if (isMessage) task.waiting -= 1;
    statements.deleteInbox.run(task.pk, id);
  }
}
