import { isoTime } from "../internal/iso-time.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { OperatorQuery, Store, TaskRecord } from "../store/contract.ts";
import { readCursor, writeCursor } from "./cursor.ts";

/** The most tasks on one page. */
export const MAX_TASKS = 200;

/** Filters of a list of tasks. All must match. */
export interface TaskFilter extends Omit<OperatorQuery, "limit" | "before"> {
  /** At most 200. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** One page of the tasks of all callers, newest status first. */
export async function listTasks(store: Store, { limit = 50, cursor, ...filter }: TaskFilter): Promise<object> {
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const { tasks, next } = await store.listAll({
    ...filter,
    limit: Math.min(limit, MAX_TASKS),
    ...(before !== undefined && { before }),
  });
  return { tasks: tasks.map(shownTask), ...(next !== undefined && { next: writeCursor(next) }) };
}

/** A task for operators, without the engine's own data. `key` identifies it in the store, `id` is what its caller sees. */
export function shownTask(record: TaskRecord): object {
  const { id, contextId, scope, dialect, createdAt, parent, root, head, seq, firstSeq, epoch, node } = record;
  const { state, status, statusAt, metadata, active, wakeAt } = head;
  return {
    key: id,
    id: publicTaskId(id),
    ...scope,
    contextId,
    state,
    status: JSON.parse(status) as unknown,
    ...(metadata !== undefined && { metadata: JSON.parse(metadata) as unknown }),
    createdAt: isoTime(createdAt),
    statusAt: isoTime(statusAt),
    dialect,
    ...(parent !== undefined && { parent }),
    ...(root !== undefined && { root }),
    seq,
    firstSeq,
    epoch,
    ...(node !== undefined && { node }),
    active,
    ...(wakeAt !== undefined && { wakeAt: isoTime(wakeAt) }),
  };
}
