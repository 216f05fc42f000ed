import type { KnownTask, LogEntry, TaskChange, TaskRecord } from "./contract.ts";

/** The change of a task: see `Store.changes`. `record`: with the messages that are searched. `later`: the events after the seq that is known. */
export function changeOf(
  { after, maxBytes }: KnownTask,
  { id, seq, head, history }: Pick<TaskRecord, "id" | "seq" | "head" | "history">,
  later: readonly LogEntry[],
): TaskChange {
  const bytes = later.reduce((sum, { body }) => sum + body.length, 0);
  // Some may have been deleted, or left out because of their size.
  const isWhole = later[0]?.seq === after + 1 && later.at(-1)?.seq === seq && bytes <= maxBytes;
  const consumed = history.flatMap(({ inbox, after: seqBefore }) =>
    inbox === undefined ? [] : [{ inbox, after: seqBefore }],
  );
  return { id, seq, head, ...(isWhole && { entries: later }), consumed };
}
