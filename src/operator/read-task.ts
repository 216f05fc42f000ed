import { readJournal } from "../engine/record/journal.ts";
import { readRunner } from "../engine/record/runner-record.ts";
import { A2AError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { isTerminal } from "../protocol/state.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { LogEntry, TaskRecord } from "../store/contract.ts";
import type { OperatorParts } from "./contract.ts";
import { shownTask } from "./list-tasks.ts";

/** Bytes of a history above which it is left out of an answer. */
const MAX_HISTORY_BYTES = 1_000_000;
const MAX_HISTORY = 100;
/** Bytes of events in one answer; an answer has at least one event. */
const MAX_EVENT_BYTES = 1_000_000;
/** Seconds for which a request may wait for events. */
export const MAX_WAIT = 30;

/** Rejects with `task-not-found`. `key`: as lists of tasks return it. */
export async function recordOf({ store }: OperatorParts, key: TaskId, history: number): Promise<TaskRecord> {
  const record = await store.get(key, { artifacts: false, history, largeBytes: MAX_HISTORY_BYTES });
  if (record === undefined) throw new A2AError("task-not-found", "Task not found");
  return record;
}

export interface TaskQuery {
  /** Whether the journal is in the answer; it may have very many entries. Default true. */
  readonly hasJournal?: boolean;
}

/** One task with its place in a trace, its last 100 messages, the messages that it has not read, and its journal. */
export async function readTask(
  parts: OperatorParts,
  key: TaskId,
  { hasJournal = true }: TaskQuery = {},
): Promise<object> {
  const record = await recordOf(parts, key, MAX_HISTORY);
  const [inbox, journal] = await Promise.all([parts.store.inbox(key), hasJournal ? parts.store.journal(key) : []]);
  const { trace } = readRunner(record.head.runner);
  return {
    task: shownTask(record),
    ...(trace !== undefined && { trace }),
    history: record.history.map(({ after, body }) => ({ after, message: JSON.parse(body) as unknown })),
    ...(record.largeHistory !== undefined && { historyOmitted: true }),
    inbox: inbox.map(({ id, kind, at }) => ({ id, kind, at: new Date(at).toISOString() })),
    ...(hasJournal && { journal: readJournal(journal) }),
  };
}

export interface EventsQuery {
  /** Events with a greater seq are returned. */
  readonly after: number;
  /** Seconds to wait if there are none; at most 30. */
  readonly wait: number;
  /** The most events. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The next events of a task's log. */
export async function readEvents(parts: OperatorParts, key: TaskId, query: EventsQuery): Promise<object> {
  const { after, wait } = query;
  const record = await recordOf(parts, key, 0);
  let entries = await parts.store.log(key, after, MAX_EVENT_BYTES);
  if (entries.length === 0 && wait > 0 && !isTerminal(record.head.state)) {
    await untilChanged(parts, record, query);
    entries = await parts.store.log(key, after, MAX_EVENT_BYTES);
  }
  const { head, seq, firstSeq } = entries.length === 0 ? record : await recordOf(parts, key, 0);
  const shown = entries.slice(0, query.limit).map(shownEvent);
  return { events: shown, lastSeq: seq, firstSeq, ended: isTerminal(head.state) };
}

function shownEvent({ seq, body }: LogEntry): object {
  return { seq, event: JSON.parse(body) as unknown };
}

/** Waits for the next event, for `wait` seconds at most. */
async function untilChanged(
  { engine }: OperatorParts,
  { id, scope }: TaskRecord,
  { after, wait, signal }: EventsQuery,
): Promise<void> {
  const subscription = await engine.subscribe(scope, publicTaskId(id), { after });
  if (subscription === undefined) return;
  const close = (): void => subscription.close();
  const timer = setTimeout(close, Math.min(wait, MAX_WAIT) * 1000);
  signal.addEventListener("abort", close, { once: true });
  try {
    await subscription.next();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", close);
    close();
  }
}
