import type { TaskId } from "../../protocol/ids.ts";
import type { HistoryEntry, JournalRecord, StepRecord, TaskEnd, TaskHead, TaskWrite } from "../../store/contract.ts";
import type { LogView } from "../read/log-view.ts";
import { type JournalEnd, type JournalEntry, journalRecord } from "../record/journal.ts";
import type { WriterCreate } from "./writer-contract.ts";

/** An inbox entry that was consumed, and the seq of the last event before that. */
export interface ConsumedEntry {
  readonly id: string;
  readonly after: number;
}

/** The end of a task, with its terminal event in the form that readers share. */
export type PendingEnd = TaskEnd & { readonly entry: LogView };

export interface WriteContext {
  readonly task: TaskId;
  readonly epoch: number;
  /** Present if the write needs it. */
  readonly head: TaskHead | undefined;
  readonly release: boolean;
}

const NONE: readonly never[] = [];

/** The records of these entries; the last one with a key replaces the others. */
function recordsOf(journal: readonly (JournalEntry | JournalEnd)[]): readonly JournalRecord[] {
  const records = new Map<string, JournalRecord>();
  for (const entry of journal) {
    const record = journalRecord(entry);
    records.set(record.key, record);
  }
  return [...records.values()];
}

/** Everything that one task writes with its next commit. The task's writer fills it in. */
export class PendingWrite {
  /** Present if this commit creates the task. */
  create: WriterCreate | undefined;
  readonly entries: LogView[] = [];
  history: HistoryEntry[] | undefined;
  consumed: ConsumedEntry[] | undefined;
  steps: StepRecord[] | undefined;
  journal: (JournalEntry | JournalEnd)[] | undefined;
  forgetSteps = false;
  /** The status, the metadata or the runner record has changed. */
  headDirty = false;
  end: PendingEnd | undefined;

  write({ task, epoch, head, release }: WriteContext): TaskWrite {
    const { create, end } = this;
    // A task that is created and ended by one commit has no journal: its record and its log say everything.
    const journal = create !== undefined && end !== undefined ? undefined : this.journal;
    return {
      kind: "write",
      task,
      epoch,
      ...(create !== undefined && { create: create.record }),
      entries: this.entries,
      ...(head !== undefined && { head }),
      history: this.history ?? NONE,
      taken: this.consumed?.map(({ id }) => id) ?? NONE,
      steps: this.steps ?? NONE,
      ...(journal !== undefined && { journal: recordsOf(journal) }),
      forgetSteps: this.forgetSteps,
      ...(end !== undefined && { end }),
      release,
    };
  }

  /** False for a task that is created and ended by one commit: no message can prevent its end, so the head of the end is enough. */
  get needsHead(): boolean {
    return this.create === undefined ? this.headDirty : this.end === undefined;
  }
}
