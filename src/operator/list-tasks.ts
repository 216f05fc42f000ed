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
  /** Each task gets `text`, the beginning of its first message. Default false. */
  readonly hasText?: boolean | undefined;
}

/** One page of the tasks of all callers, newest status first. */
export async function listTasks(store: Store, query: TaskFilter): Promise<object> {
  const { limit = 50, cursor, hasText = false, ...filter } = query;
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const { tasks, next } = await store.listAll({
    ...filter,
    limit: Math.min(limit, MAX_TASKS),
    ...(before !== undefined && { before }),
  });
  const shown = hasText ? await Promise.all(tasks.map((task) => withText(store, task))) : tasks.map(shownTask);
  return { tasks: shown, ...(next !== undefined && { next: writeCursor(next) }) };
}

/** Characters of `text`. */
const MAX_TEXT = 200;
/** Characters of a message above which it is not parsed for its text. */
const MAX_MESSAGE = 65_536;

/** A task with the beginning of its first message, if that has a text. */
export async function withText(store: Store, record: TaskRecord): Promise<object> {
  const [first] = await store.history(record.id, 0, 1);
  const text = first === undefined || first.body.length > MAX_MESSAGE ? "" : textIn(JSON.parse(first.body));
  return { ...shownTask(record), ...(text !== "" && { text }) };
}

/** The beginning of the text of a message in the stored form. */
function textIn(message: unknown): string {
  // Safe cast: the engine wrote the message.
  const { parts = [] } = message as { readonly parts?: readonly { readonly text?: string }[] };
  const text = parts
    .map((part) => part.text ?? "")
    .join(" ")
    .trim();
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
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
