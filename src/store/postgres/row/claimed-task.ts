import type { ClaimedTask, InboxEntry } from "../../contract.ts";
import { joinedLogEntries } from "./log-text.ts";
import { recordOf, type TaskRow } from "./task-record.ts";
import { originalText } from "./text.ts";

/** A task as the function `claimed_1` returns it. */
export interface ClaimedRow {
  readonly record: TaskRow;
  /** `[key, value]` of each step; null: there is none. */
  readonly steps: readonly (readonly [string, string])[] | null;
  /** Null: it is empty. */
  readonly inbox: readonly InboxEntry[] | null;
  /** The first seq of the log; null: it is empty. */
  readonly log_first: number | null;
  /** The rows of the log with commas between them; null: it is left out, or empty. */
  readonly log_text: string | null;
}

export function claimedTaskOf({ record, steps, inbox, log_first: first, log_text: text }: ClaimedRow): ClaimedTask {
  return {
    record: recordOf(record),
    steps: (steps ?? []).map(([key, value]) => ({ key: originalText(key), value: originalText(value) })),
    inbox: (inbox ?? []).map(inboxEntryOf),
    ...(first !== null && text !== null && { entries: joinedLogEntries(first, text) }),
  };
}

export function inboxEntryOf(entry: InboxEntry): InboxEntry {
  return { ...entry, id: originalText(entry.id), body: originalText(entry.body) };
}
