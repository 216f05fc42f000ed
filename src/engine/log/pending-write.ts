import type { TaskId } from "../../protocol/ids.ts";
import type { HistoryEntry, StepRecord, TaskEnd, TaskHead, TaskWrite } from "../../store/contract.ts";
import type { LogView } from "../read/log-view.ts";
import type { WriterCreate } from "./writer-contract.ts";

/** A message that was taken out of the inbox, and the seq it follows. */
export interface Taken {
  readonly id: string;
  readonly after: number;
}

export type PendingEnd = TaskEnd & { readonly entry: LogView };

export interface WriteContext {
  readonly task: TaskId;
  readonly epoch: number;
  /** Where the write needs it. */
  readonly head: TaskHead | undefined;
  readonly release: boolean;
}

const NONE: readonly string[] = [];

/** What has gathered of one task since its last commit. Its writer fills it in, and takes a new one when it leaves. */
export class PendingWrite {
  create: WriterCreate | undefined;
  entries: LogView[] = [];
  history: HistoryEntry[] = [];
  taken: Taken[] = [];
  steps: StepRecord[] = [];
  forgetSteps = false;
  /** The status or the run's bookkeeping has changed. */
  headDirty = false;
  end: PendingEnd | undefined;

  write({ task, epoch, head, release }: WriteContext): TaskWrite {
    const { create, end } = this;
    return {
      kind: "write",
      task,
      epoch,
      ...(create !== undefined && { create: create.record }),
      entries: this.entries,
      ...(head !== undefined && { head }),
      history: this.history,
      taken: this.taken.length === 0 ? NONE : this.taken.map(({ id }) => id),
      steps: this.steps,
      forgetSteps: this.forgetSteps,
      ...(end !== undefined && { end }),
      release,
    };
  }

  /** A task that comes into the store finished needs only its last head: nobody knew it, so no message can keep it from ending. */
  get needsHead(): boolean {
    return this.create === undefined ? this.headDirty : this.end === undefined;
  }
}
