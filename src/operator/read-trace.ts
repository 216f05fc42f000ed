import { readJournal } from "../engine/record/journal.ts";
import { readRunner } from "../engine/record/runner-record.ts";
import type { TaskId } from "../protocol/ids.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { TaskRecord } from "../store/contract.ts";
import type { OperatorParts, TracedSpan, TraceRow } from "./contract.ts";
import { journalBars } from "./journal-bars.ts";
import { recordOf } from "./read-task.ts";

/** Tasks in one trace; of further ones only the number is shown. */
const MAX_TASKS = 50;
/** Lines of one trace. */
const MAX_ROWS = 2000;

/** A task in a trace, with its lines. */
interface TracedRows {
  readonly key: string;
  readonly id: string;
  readonly agent: string;
  readonly state: string;
  readonly parent?: string;
  readonly createdAt: number;
  readonly statusAt: number;
  readonly rows: readonly object[];
}

/**
 * A task and the tasks below it, oldest first, each with what it did. Made from the stored journal, so it exists also for tasks that ran while nothing was
 * traced.
 */
export async function readTrace(parts: OperatorParts, key: TaskId): Promise<object> {
  const record = await recordOf(parts, key, 0);
  const below = await tasksBelow(parts, record);
  const tasks: TracedRows[] = [];
  let left = MAX_ROWS;
  let traceId = "";
  for (const each of [record, ...below.tasks]) {
    const journal = journalBars(readJournal(await parts.store.journal(each.id)));
    const { trace } = readRunner(each.head.runner);
    const { createdAt, head, scope, contextId } = each;
    const { state, statusAt } = head;
    const taskId = publicTaskId(each.id);
    const made = parts.traceRows({ taskId, contextId, agent: scope.agent, state, createdAt, statusAt, trace, journal });
    if (traceId === "") traceId = made.traceId;
    const rows = made.rows.slice(0, left).map((row, index) => shownRow(row, index));
    left -= rows.length;
    const { id, parent } = each;
    tasks.push({
      ...{ key: id, id: taskId, agent: scope.agent, state, createdAt, statusAt, rows },
      ...(parent !== undefined && id !== key && { parent }),
    });
  }
  return { traceId, tasks, hasMore: below.hasMore || left <= 0, now: new Date().toISOString() };
}

/** The tasks that a task has called, and those that these have called. */
async function tasksBelow(
  { store }: OperatorParts,
  { id, root }: TaskRecord,
): Promise<{ readonly tasks: readonly TaskRecord[]; readonly hasMore: boolean }> {
  if (root === undefined) {
    const { tasks, next } = await store.listAll({ root: id, limit: MAX_TASKS });
    return { tasks: tasks.toSorted((one, other) => one.createdAt - other.createdAt), hasMore: next !== undefined };
  }
  // Below a task that was called itself: level by level.
  const found: TaskRecord[] = [];
  let level: readonly TaskId[] = [id];
  while (level.length > 0 && found.length < MAX_TASKS) {
    const pages = await Promise.all(level.map((parent) => store.listAll({ parent, limit: MAX_TASKS })));
    const tasks = pages.flatMap((page) => page.tasks);
    found.push(...tasks);
    level = tasks.map((task) => task.id);
  }
  const sorted = found.toSorted((one, other) => one.createdAt - other.createdAt);
  return { tasks: sorted.slice(0, MAX_TASKS), hasMore: level.length > 0 };
}

function shownRow({ span, ...row }: TraceRow, index: number): object {
  return { ...row, index, ...(span !== undefined && { span: shownSpan(span) }) };
}

function shownSpan({ name, context, attributes }: TracedSpan): object {
  return { name, id: context.spanId, attributes };
}
