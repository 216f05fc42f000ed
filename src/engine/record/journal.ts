import { parseOwnJson } from "../../internal/own-json.ts";
import type { JournalRecord } from "../../store/contract.ts";
import type { StepCall, StepCallResult } from "../../telemetry/contract.ts";

/**
 * What happened to a task, and when, for traces and time lines. Results are not in it, nor are tasks that are created and ended by one commit.
 *
 * - `attempt`: an execution of the agent's function. Without an end, it is running, or its process stopped.
 * - `step`, `question`, `wait`: calls of `step`, `ask` and `requireAuth`, `sleep`.
 * - `delivery`: notifications of a webhook.
 * - `child`: a call of another agent.
 */
export type JournalKind = "attempt" | "step" | "question" | "wait" | "delivery" | "child";

/** All times are milliseconds since 1970 of the store's clock. */
export interface JournalEntry {
  readonly kind: JournalKind;
  /** Unique among the entries of this kind and turn: for an attempt its number, for a step the key of its stored result, for a delivery the webhook and the first event. */
  readonly key: string;
  /** The turn of the task; the first is 1. Absent for deliveries. */
  readonly turn?: number;
  /** The attempt of the turn that wrote the entry. Absent for deliveries. */
  readonly attempt?: number;
  /** The process that did it. */
  readonly node: string;
  readonly start: number;
  /** Absent: it has not ended, or the process stopped before. */
  readonly end?: number;
  /** How it ended, such as `completed`, `failed`, `answered`, `timed-out`, `parked` or `delivered`. */
  readonly outcome?: string;
  /** For calls of agents: the id of a hosted agent or the URL of a remote one, and the called task once it is known. */
  readonly called?: { readonly agent: string; readonly taskId?: string };
  /** For steps that call a model or a tool: which, and what is known of the call after its end. */
  readonly call?: StepCall;
  readonly result?: StepCallResult;
  /** For deliveries: the last event that was delivered, how many notifications were sent, and why the last one failed. */
  readonly upTo?: number;
  readonly count?: number;
  readonly reason?: string;
}

/** The end of an entry whose beginning another process may have written. */
export type JournalEnd = Pick<JournalEntry, "kind" | "key" | "turn"> & {
  readonly end: number;
  readonly outcome: string;
};

/** Marks the record of an end in its key. */
const END = "/end";

/** The stored form of an entry, or of its end. */
export function journalRecord(entry: JournalEntry | JournalEnd): JournalRecord {
  const key = recordKey(entry);
  if ("start" in entry) return { key, body: JSON.stringify(entry) };
  const { end, outcome } = entry;
  return { key: key + END, body: JSON.stringify({ end, outcome }) };
}

/** The entries of a task's journal in the order of their beginning, each with its end. */
export function readJournal(records: readonly JournalRecord[]): readonly JournalEntry[] {
  const ends = new Map<string, Pick<JournalEnd, "end" | "outcome">>();
  for (const { key, body } of records) {
    if (key.endsWith(END)) ends.set(key.slice(0, -END.length), parseOwnJson<JournalEnd>(body));
  }
  return records
    .flatMap(({ key, body }) => (key.endsWith(END) ? [] : [{ ...parseOwnJson<JournalEntry>(body), ...ends.get(key) }]))
    .sort(byBeginning);
}

/** An attempt comes before what it does at the same time. */
function byBeginning(a: JournalEntry, b: JournalEntry): number {
  return a.start - b.start || Number(b.kind === "attempt") - Number(a.kind === "attempt");
}

function recordKey({ kind, key, turn = 0 }: Pick<JournalEntry, "kind" | "key" | "turn">): string {
  // A name that an author chose may end like the mark of an end.
  return `${kind}/${turn}/${encodeURIComponent(key)}`;
}
