import { readJournal } from "../engine/record/journal.ts";
import type { TaskId } from "../protocol/ids.ts";
import { isTerminal } from "../protocol/state.ts";
import type { TaskRecord } from "../store/contract.ts";
import type { OperatorParts } from "./contract.ts";
import { journalBars } from "./journal-bars.ts";
import { withText } from "./list-tasks.ts";
import { LogSummary } from "./log-summary.ts";
import { recordOf } from "./read-task.ts";

/** Bytes of the log that are read at a time; other requests are answered between two reads. */
const PAGE_BYTES = 250_000;
/** Summaries that are kept, so that the log of a task that is looked at is read once. */
const MAX_KEPT = 8;

export interface OutlineQuery {
  /** Whether the log is summarized too. */
  readonly hasLog: boolean;
  /** Milliseconds after which the answer has what was read of the log so far. Default: it has the whole log. */
  readonly within?: number | undefined;
  readonly signal: AbortSignal;
}

/** Outlines of tasks: bounded answers for tasks of any size. */
export interface Outlines {
  outline(key: TaskId, query: OutlineQuery): Promise<object>;
  /** The state and the artifacts of a task as of one of its events. */
  snapshot(key: TaskId, seq: number, signal: AbortSignal): Promise<object>;
}

export function createOutlines(parts: OperatorParts): Outlines {
  /** In the order of their last use. */
  const kept = new Map<TaskId, LogSummary>();
  return {
    async outline(key, { hasLog, within = Number.POSITIVE_INFINITY, signal }) {
      const endAt = performance.now() + within;
      const record = await recordOf(parts, key, 0);
      const bars = journalBars(readJournal(await parts.store.journal(key)));
      const facts = { task: await withText(parts.store, record), journal: bars, now: new Date().toISOString() };
      if (!hasLog) return facts;
      const summary = summaryOf(key, record);
      const isWhole = await fill(parts, key, { summary, upTo: Number.POSITIVE_INFINITY, endAt, signal });
      const { rows, firstRows, rowCount, written, times, artifacts } = summary;
      const lastSeq = Math.max(summary.lastSeq, record.seq);
      return {
        ...facts,
        log: {
          ...{ lastSeq, firstSeq: record.firstSeq, rowCount },
          ended: isTerminal(isWhole ? summary.state : record.head.state),
          ...(!isWhole && { readTo: summary.lastSeq }),
          ...(rows === undefined ? { firstRows } : { rows }),
          ...{ written, times, artifacts },
        },
      };
    },
    async snapshot(key, seq, signal) {
      const { firstSeq } = await recordOf(parts, key, 0);
      const known = kept.get(key);
      const summary = known !== undefined && known.lastSeq <= seq ? known : new LogSummary();
      await fill(parts, key, { summary, upTo: seq, endAt: Number.POSITIVE_INFINITY, signal });
      return { seq: summary.lastSeq, firstSeq, state: summary.state, artifacts: summary.artifacts };
    },
  };

  function summaryOf(key: TaskId, { seq }: TaskRecord): LogSummary {
    const known = kept.get(key);
    // A task with this key was deleted and created again.
    const summary = known === undefined || known.lastSeq > seq ? new LogSummary() : known;
    kept.delete(key);
    kept.set(key, summary);
    for (const [oldest] of kept) {
      if (kept.size <= MAX_KEPT) break;
      kept.delete(oldest);
    }
    return summary;
  }
}

interface Filling {
  readonly summary: LogSummary;
  /** The last event that is added. */
  readonly upTo: number;
  /** When it stops, in milliseconds as `performance.now()` counts. */
  readonly endAt: number;
  readonly signal: AbortSignal;
}

/** Adds the entries of the log that the summary does not have. Resolves with `false` if the time was over before. */
async function fill({ store }: OperatorParts, key: TaskId, filling: Filling): Promise<boolean> {
  const { summary, upTo, endAt, signal } = filling;
  for (;;) {
    signal.throwIfAborted();
    const entries = await store.log(key, summary.lastSeq, PAGE_BYTES);
    for (const entry of entries) {
      if (entry.seq > upTo) return true;
      summary.add(entry);
    }
    if (entries.length === 0) return true;
    if (performance.now() >= endAt) return false;
    // SQLite answers at once: let other requests pass.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
