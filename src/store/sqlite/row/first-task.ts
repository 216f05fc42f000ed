/**
 * The column `counted` of a task: whether the counters of its context include it, and how a task without them is found by its context. A caller
 * that names the context turns the last two into `COUNTED`.
 */
export const NOT_COUNTED = 0;
export const COUNTED = 1;
/** Not in the index by context: {@link isFirstTask}. */
export const FOUND_BY_ID = 2;

/** Time and counter of a UUID of version 7. */
const UUID_V7 = /^([0-9a-f]{8}-[0-9a-f]{4}-7)([0-9a-f]{3})-/;

/** SQL condition on a row of `task` with {@link firstTaskRange} as `?1` and `?2`. The plus keeps SQLite from using an index of that column. */
export const IS_FIRST_TASK = "id BETWEEN ?1 AND ?2 AND +context = ?3 AND +counted = 2";

/**
 * The server creates the id of a task, then the id of its context. Both ids rise, so the counter of the second is one above that of the first,
 * unless it overflows.
 */
export function isFirstTask(id: string, context: string): boolean {
  const start = startOfFirstTask(context);
  return start !== undefined && id.startsWith(start);
}

/** The least and the greatest id for which {@link isFirstTask} can be true. Nulls: there is none. */
export function firstTaskRange(context: string): readonly [from: string | null, to: string | null] {
  const start = startOfFirstTask(context);
  return start === undefined ? [null, null] : [start, `${start}~`];
}

function startOfFirstTask(context: string): string | undefined {
  const [, time, counter] = UUID_V7.exec(context) ?? [];
  if (time === undefined || counter === undefined || counter === "000") return undefined;
  return `${time}${(Number.parseInt(counter, 16) - 1).toString(16).padStart(3, "0")}-`;
}
