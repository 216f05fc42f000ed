import type { TaskId } from "../protocol/ids.ts";
import type { HistoryEntry, StepRecord, TaskEnd, TaskHead, TaskWrite } from "../store/contract.ts";
import type { LogView } from "./log-view.ts";
import type { WriterCreate } from "./writer-contract.ts";

/** A message that was taken out of the inbox, and the seq it follows. */
export interface Taken {
  readonly id: string;
  readonly after: number;
}

export type PendingEnd = TaskEnd & { readonly entry: LogView };

/** What readers are to see of a write once it is committed. */
export interface Visible {
  readonly views: readonly LogView[];
  readonly taken: readonly Taken[];
  readonly end: PendingEnd | undefined;
}

export interface WriteContext {
  readonly task: TaskId;
  readonly epoch: number;
  /** Made only where the write needs it. */
  readonly head: () => TaskHead;
  readonly release: boolean;
}

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

  visible(): Visible {
    return { views: this.entries, taken: this.taken, end: this.end };
  }

  write({ task, epoch, head, release }: WriteContext): TaskWrite {
    const { create, end } = this;
    return {
      kind: "write",
      task,
      epoch,
      ...(create !== undefined && { create: create.record }),
      entries: this.entries,
      ...(this.#needsHead && { head: head() }),
      history: this.history,
      taken: this.taken.map(({ id }) => id),
      steps: this.steps,
      forgetSteps: this.forgetSteps,
      ...(end !== undefined && { end }),
      release,
    };
  }

  /** A task that comes into the store finished needs only its last head: nobody knew it, so no message can keep it from ending. */
  get #needsHead(): boolean {
    return this.create === undefined ? this.headDirty : this.end === undefined;
  }
}
