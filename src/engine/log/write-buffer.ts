import type { ArtifactEvent, TaskEvent } from "../../protocol/event.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import { writeEvent } from "../../protocol/serial.ts";
import type { HistoryEntry, StepRecord } from "../../store/contract.ts";
import type { Limits } from "../limits.ts";
import { LogView, type Readership } from "../read/log-view.ts";
import type { JournalEnd, JournalEntry } from "../record/journal.ts";
import { limitFailure } from "./limit-failure.ts";
import { type PendingEnd, PendingWrite } from "./pending-write.ts";
import type { WriterStart } from "./writer-contract.ts";

/** Up to this size of its log, the artifacts of a new task are kept in memory, so that its end need not read the log again. */
const MAX_FOLDED_BYTES = 16 * 1024;

/** A run that makes more steps, questions and waits than this is not recorded further. */
const MAX_JOURNAL = 20_000;

const NO_MESSAGES: readonly HistoryEntry[] = [];

/** A task with this many uncommitted events produces them fast; it is not made to wait for others. */
const MANY_CHUNKS = 16;

/** The writer of a task, as its buffer sees it. */
export interface BufferOwner {
  readonly feed: Readership;
  readonly limits: Limits;
  /** Called after each addition. `isUrgent`: false if the buffer has only a few chunks, which may wait for those of other tasks. */
  requestCommit(isUrgent: boolean): void;
}

/** A chunk that is not committed yet, and its place among the pending events. */
export interface PendingChunk {
  readonly index: number;
  readonly event: ArtifactEvent;
}

/**
 * Collects what one task writes until the next commit. It numbers events and enforces the size limits. It also counts the events that are
 * not committed yet, including those that a commit is writing, so that a fast run can be made to wait.
 */
export class WriteBuffer {
  /** Number of the task's last event, committed or not. */
  seq: number;
  readonly #owner: BufferOwner;
  #pending: PendingWrite | undefined;
  /** Size of the log, uncommitted events included. */
  #bytes: number;
  #historyLength: number;
  /** Journal records since this process has the task. */
  #journaled = 0;
  #uncommittedEvents = 0;
  #uncommittedBytes = 0;
  /** The artifacts so far, while the task is new and small. */
  #fold: ArtifactFold | undefined;

  constructor({ seq, runner, historyLength, create }: WriterStart, owner: BufferOwner) {
    this.#owner = owner;
    this.seq = seq;
    this.#bytes = runner.bytes;
    this.#historyLength = historyLength;
    if (create === undefined) return;
    this.pending.create = create;
    this.addMessage({ after: 0, body: create.message });
    // A streaming caller receives the events. For later readers the store folds them, outside of this thread.
    if (!create.streams) this.#fold = new ArtifactFold();
  }

  /** What was written since the last commit. */
  get pending(): PendingWrite {
    this.#pending ??= new PendingWrite();
    return this.#pending;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get historyIsFull(): boolean {
    return this.#historyLength >= this.#owner.limits.maxHistory;
  }

  /** The run must wait before it writes more. */
  get isFull(): boolean {
    const { maxUncommittedEvents, maxUncommittedBytes } = this.#owner.limits;
    return this.#uncommittedEvents >= maxUncommittedEvents || this.#uncommittedBytes >= maxUncommittedBytes;
  }

  /** Appends an event to the log. `isLimited`: throws a `TaskFailure` if the event, or the log with it, becomes too large. */
  append(event: TaskEvent, note: string | undefined, isLimited: boolean): void {
    const body = writeEvent(event);
    if (isLimited) this.#requireSpace(body.length);
    this.seq++;
    this.#bytes += body.length;
    if (this.#bytes > MAX_FOLDED_BYTES) this.#fold = undefined;
    this.#fold?.add(event);
    const state = event.kind === "status" ? event.status.state : undefined;
    const { entries } = this.pending;
    entries.push(new LogView(this.seq, body, { state, note, readership: this.#owner.feed }));
    this.#uncommittedEvents++;
    this.#uncommittedBytes += body.length;
    this.#owner.requestCommit(event.kind !== "artifact" || entries.length >= MANY_CHUNKS);
  }

  #requireSpace(length: number): void {
    const { maxEventBytes, maxTaskBytes } = this.#owner.limits;
    if (length > maxEventBytes)
      throw limitFailure("event-too-large", `an event may have at most ${maxEventBytes} bytes (maxEventBytes)`);
    if (this.#bytes + length > maxTaskBytes)
      throw limitFailure(
        "task-too-large",
        `the events of a task may have at most ${maxTaskBytes} bytes in total (maxTaskBytes)`,
      );
  }

  /** Marks a pending chunk as the last one of its artifact. False: the chunk is not pending any more. */
  completeChunk({ index, event }: PendingChunk): boolean {
    const entries = this.#pending?.entries;
    const logged = entries?.[index];
    if (entries === undefined || logged === undefined) return false;
    // The mark changes no content, so the folded artifacts remain valid.
    const body = writeEvent({ ...event, lastChunk: true });
    this.#bytes += body.length - logged.body.length;
    this.#uncommittedBytes += body.length - logged.body.length;
    entries[index] = new LogView(logged.seq, body, { note: logged.note, readership: this.#owner.feed });
    return true;
  }

  /**
   * Adds a message to the history. Beyond the limit, the agent's own messages are left out. Messages of the caller are added all the same: the
   * limit is enforced when a message arrives, and a replay needs every message that was accepted.
   */
  addMessage(entry: HistoryEntry): void {
    if (this.historyIsFull && entry.inbox === undefined) return;
    this.#historyLength++;
    const { pending } = this;
    pending.history ??= [];
    pending.history.push(entry);
  }

  /** Throws a `TaskFailure` if the result of the step is too large. */
  addStep(step: StepRecord): void {
    const { maxStepBytes } = this.#owner.limits;
    if (step.value.length > maxStepBytes)
      throw limitFailure(
        "step-too-large",
        `the result of a step may have at most ${maxStepBytes} bytes of JSON (maxStepBytes)`,
      );
    const { pending } = this;
    pending.steps ??= [];
    pending.steps.push(step);
    this.#owner.requestCommit(true);
  }

  /** Adds an entry to the journal. It goes with the next commit, and requests none. */
  addJournal(entry: JournalEntry | JournalEnd): void {
    if (this.#journaled >= MAX_JOURNAL) return;
    this.#journaled++;
    const { pending } = this;
    pending.journal ??= [];
    pending.journal.push(entry);
  }

  forgetSteps(): void {
    this.pending.forgetSteps = true;
    this.pending.steps = undefined;
    this.#owner.requestCommit(true);
  }

  /** Removes an entry from the stored inbox. It was consumed after the event `after`. */
  addConsumed(id: string, after: number): void {
    const { pending } = this;
    pending.consumed ??= [];
    pending.consumed.push({ id, after });
    this.#owner.requestCommit(true);
  }

  /** The status, the metadata or the runner record changed. */
  headChanged(): void {
    this.pending.headDirty = true;
    this.#owner.requestCommit(true);
  }

  /**
   * Calls `append`, which appends the terminal event with its message, and takes both out of the pending write again. The store writes them
   * on a condition (an empty inbox), so they are committed apart from the rest.
   */
  separately(append: () => void): { readonly entry: LogView; readonly history: readonly HistoryEntry[] } {
    const { pending } = this;
    const { history } = pending;
    pending.history = undefined;
    try {
      append();
      const entry = pending.entries.pop();
      if (entry === undefined) throw new Error("The terminal event was not appended.");
      return { entry, history: pending.history ?? NO_MESSAGES };
    } finally {
      pending.history = history;
    }
  }

  setEnd(end: PendingEnd): void {
    this.pending.end = end;
    this.#owner.requestCommit(true);
  }

  /** The inbox was not empty, so the terminal event was not stored; the next event gets its number. */
  rollBackEnd(): void {
    this.seq--;
  }

  /** The artifacts as a JSON array; `undefined`: they must be read from the log. */
  artifactsText(): string | undefined {
    return this.#fold === undefined ? undefined : JSON.stringify(this.#fold.artifacts());
  }

  /** Takes everything collected so far for a commit. */
  collect(): PendingWrite {
    const { pending } = this;
    this.#pending = undefined;
    return pending;
  }

  committed({ entries, end }: PendingWrite): void {
    this.#uncommittedEvents -= entries.length + (end === undefined ? 0 : 1);
    for (const { body } of entries) this.#uncommittedBytes -= body.length;
    if (end !== undefined) this.#uncommittedBytes -= end.entry.body.length;
  }
}
