import type { TaskId } from "../../../protocol/ids.ts";
import type { LogEntry, TaskChange } from "../../contract.ts";
import { logEntries } from "./log-text.ts";
import { type HeadRow, headOf } from "./task-record.ts";
import { originalText } from "./text.ts";

/** A task as the function `changes_1` returns it. */
export interface ChangeRow extends HeadRow {
  readonly id: string;
  readonly last_seq: number;
  /** `[first, entries]` of each row of the log; null: they are left out. */
  readonly log_rows: readonly (readonly [number, string])[] | null;
  /** `[inbox, after]` of each consumed entry. */
  readonly consumed: readonly (readonly [string, number])[] | null;
}

/** `afters`: the seq that is known of each task. The first row of the log may contain it. */
export function changeOfRow(row: ChangeRow, afters: ReadonlyMap<TaskId, number>): TaskChange {
  const id = originalText(row.id) as TaskId; // Safe: stored ids were task ids.
  const after = afters.get(id) ?? 0;
  const entries: LogEntry[] = [];
  for (const [first, text] of row.log_rows ?? [])
    for (const entry of logEntries(first, text)) if (entry.seq > after) entries.push(entry);
  return {
    id,
    seq: row.last_seq,
    head: headOf(row),
    ...(entries[0]?.seq === after + 1 && { entries }),
    consumed: (row.consumed ?? []).map(([inbox, seq]) => ({ inbox: originalText(inbox), after: seq })),
  };
}
