import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { writeMessage } from "../../protocol/serial.ts";
import type { TaskState, TerminalState } from "../../protocol/state.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { InboxEntry, Outcome, StepRecord, StoreError, TaskWrite } from "../../store/contract.ts";
import { TaskAborted } from "../agent/agent.ts";
import type { TaskRef } from "../api.ts";
import type { Limits } from "../limits.ts";
import type { Feed } from "../read/feed.ts";
import { isIdempotencyEntry } from "../record/idempotency-entry.ts";
import type { JournalEnd, JournalEntry } from "../record/journal.ts";
import { type Questions, type RunnerRecord, withConsumedSealed } from "../record/runner-record.ts";
import type { CommitSource } from "./committer.ts";
import { HeadState } from "./head-state.ts";
import type { PendingWrite } from "./pending-write.ts";
import { type EventsOwner, TaskEvents } from "./task-events.ts";
import { TaskInbox } from "./task-inbox.ts";
import { type BufferOwner, WriteBuffer } from "./write-buffer.ts";
import {
  abortOf,
  type EndOptions,
  type EventOptions,
  type HeadChange,
  type StatusOptions,
  type WriterDependencies,
  type WriterListener,
  type WriterLoss,
  type WriterStart,
} from "./writer-contract.ts";

/** A write that the store is committing. */
interface CommitInFlight {
  readonly pending: PendingWrite;
  /** Present if something waits for this commit. */
  done: Deferred<void> | undefined;
  /** The questions as of this write. */
  readonly questions: Questions | undefined;
}

/**
 * The only writer of one task, for as long as this process has the task's lease. It collects everything a run produces and hands it to the
 * committer, which commits the writes of many tasks together. Readers do not see the writer's state: they read the feed, which the writer
 * advances after each commit.
 *
 * Every method that writes throws a `TaskAborted` once the task has ended or the writer has lost it.
 */
export class TaskLogWriter implements CommitSource, BufferOwner, EventsOwner {
  readonly ref: TaskRef;
  readonly feed: Feed;
  /** The number of the lease. The store refuses writes with an older one. */
  epoch: number;
  /** Why nothing can be written any more. */
  loss: WriterLoss | undefined;
  listener: WriterListener | undefined;
  /** Only the committer sets this. */
  marked = false;
  /** False until the task's first commit. */
  isStored: boolean;
  readonly dependencies: WriterDependencies;
  readonly #head: HeadState;
  readonly #buffer: WriteBuffer;
  readonly #events: TaskEvents;
  readonly #inbox: TaskInbox;
  #hasNewSteps = false;
  #isReleasing = false;
  #needsCommit = false;
  /** Settled with the next commit; present if something waits for it. */
  #nextCommit: Deferred<void> | undefined;
  #inFlight: CommitInFlight | undefined;
  #endResult: Deferred<"ended" | "inbox"> | undefined;

  constructor(start: WriterStart, feed: Feed, dependencies: WriterDependencies) {
    this.ref = start.ref;
    this.feed = feed;
    this.epoch = start.epoch;
    this.isStored = start.create === undefined;
    this.dependencies = dependencies;
    this.#inbox = new TaskInbox(start.taken);
    this.#head = new HeadState(start.head, start.runner);
    this.#buffer = new WriteBuffer(start, this);
    this.#events = new TaskEvents(this, {
      head: this.#head,
      buffer: this.#buffer,
      knownArtifacts: start.knownArtifacts,
    });
    feed.hasWriter = true;
    if (start.create !== undefined) this.#buffer.headChanged();
  }

  get limits(): Limits {
    return this.dependencies.limits;
  }

  get state(): TaskState {
    return this.#head.state;
  }

  get ended(): boolean {
    return this.#head.ended;
  }

  /** Number of the last event, committed or not. */
  get seq(): number {
    return this.#buffer.seq;
  }

  get runner(): RunnerRecord {
    return this.#head.runner;
  }

  get active(): boolean {
    return this.#head.active;
  }

  get wakeAt(): number | undefined {
    return this.#head.wakeAt;
  }

  /** The task's metadata as JSON text. */
  get metadata(): string | undefined {
    return this.#head.metadata;
  }

  /** Messages that wait to be consumed, oldest first. */
  get inbox(): readonly InboxEntry[] {
    return this.#inbox.entries;
  }

  /** An event or a step was committed since the run was last started. At the first start of a turn: since the task was created. */
  get progressed(): boolean {
    return this.#hasNewSteps || this.feed.seq > (this.runner.startSeq ?? 0);
  }

  get historyIsFull(): boolean {
    return this.#buffer.historyIsFull;
  }

  hasArtifact(id: ArtifactId): boolean {
    return this.#events.hasArtifact(id);
  }

  /** Changes to a state that is not terminal; a missing `working` is inserted. Throws an `Error` if the change is not allowed. */
  status(state: Exclude<TaskState, TerminalState>, options: StatusOptions = {}): void {
    this.#events.status(state, options);
  }

  /** Appends a chunk of an artifact. Throws a `TaskFailure` over a limit. */
  artifact(event: ArtifactEvent, options: EventOptions = {}): void {
    this.#events.artifact(event, options);
  }

  /** Marks the artifact's last chunk as the last one, unless it is marked. */
  completeArtifact(id: ArtifactId): void {
    this.#events.completeArtifact(id);
  }

  /** `metadata`: JSON text; `undefined` removes all. */
  setMetadata(metadata: string | undefined): void {
    this.requireOpen();
    this.#head.metadata = metadata;
    this.#buffer.headChanged();
  }

  /** Removes a message from the inbox. `message`: adds it to the history; `undefined`: it must not be kept. */
  consume(entry: InboxEntry, message: Message | undefined): void {
    this.requireOpen();
    const { seq } = this;
    this.#inbox.consume(entry, seq);
    this.#buffer.addConsumed(entry.id, seq);
    if (message !== undefined) this.#buffer.addMessage({ after: seq, body: writeMessage(message), inbox: entry.id });
    else if (isIdempotencyEntry(entry.id))
      this.updateHead({ runner: { consumedSealed: withConsumedSealed(this.runner.consumedSealed, entry.id) } });
  }

  /** Stores the result of a step, so that a replay does not run the step again. Throws a `TaskFailure` if it is too large. */
  remember(step: StepRecord): void {
    this.requireOpen();
    this.#buffer.addStep(step);
  }

  /** Adds an entry to the task's journal. It is stored with the next commit; does nothing after the end of the task. */
  journal(entry: JournalEntry | JournalEnd): void {
    if (this.loss === undefined && !this.ended) this.#buffer.addJournal(entry);
  }

  /** The span that writes the events from now on; `undefined`: the one that created the task. */
  setTrace(trace: TraceContext | undefined): void {
    this.#events.setTrace(trace);
  }

  forgetSteps(): void {
    this.#buffer.forgetSteps();
  }

  updateHead(change: HeadChange): void {
    this.requireOpen();
    const head = this.#head;
    if (change.runner !== undefined) head.runner = { ...head.runner, ...change.runner };
    if (change.active !== undefined) head.active = change.active;
    if ("wakeAt" in change) head.wakeAt = change.wakeAt;
    this.#buffer.headChanged();
  }

  /**
   * Completes all artifacts and ends the task; resolves after the commit. `inbox`: a message arrived before the commit, so the task has not
   * ended and the message needs another turn.
   */
  end(state: TerminalState, options: EndOptions): Promise<"ended" | "inbox"> {
    this.#events.end(state, options);
    this.#endResult = createDeferred<"ended" | "inbox">();
    return this.#endResult.promise;
  }

  /** Releases the lease with the next commit. Nothing can be written afterwards. */
  release(): Promise<void> {
    this.requireOpen();
    this.#isReleasing = true;
    this.#buffer.headChanged();
    return this.flush().finally(() => {
      this.loss ??= { kind: "lease-lost" };
      this.feed.hasWriter = false;
      // Reject additions made during that commit: nothing will commit them.
      this.#nextCommit?.reject(abortOf(this.loss));
      this.#nextCommit = undefined;
      this.#needsCommit = false;
    });
  }

  /** Resolves when everything written so far is committed. Rejects with a `TaskAborted` if it cannot be. */
  flush(): Promise<void> {
    if (this.loss !== undefined) return Promise.reject(abortOf(this.loss));
    return (this.#needsCommit ? this.#nextCommitDone() : this.#inFlightDone()) ?? Promise.resolve();
  }

  /** `undefined` if more can be written now; otherwise resolves when enough has been committed. */
  room(): Promise<void> | undefined {
    return this.#buffer.isFull ? this.#untilRoom() : undefined;
  }

  async #untilRoom(): Promise<void> {
    await (this.#inFlightDone() ?? (this.#needsCommit ? this.#nextCommitDone() : undefined));
    await this.room();
  }

  #nextCommitDone(): Promise<void> {
    this.#nextCommit ??= createDeferred<void>({ handled: true });
    this.requestCommit(true);
    return this.#nextCommit.promise;
  }

  #inFlightDone(): Promise<void> | undefined {
    if (this.#inFlight === undefined) return undefined;
    this.#inFlight.done ??= createDeferred<void>({ handled: true });
    return this.#inFlight.done.promise;
  }

  /** Whether `deliver` was called for the entry. False for a repeated message that must be consumed again. */
  hasReceived(id: string): boolean {
    return this.#inbox.has(id) && !(isIdempotencyEntry(id) && this.#inbox.consumedAfter(id) !== undefined);
  }

  /** Adds an entry of the stored inbox, unless it was delivered before. */
  deliver(entry: InboxEntry): void {
    const after = this.#inbox.consumedAfter(entry.id);
    if (after !== undefined) this.#consumeAgain(entry.id, after);
    else if (this.#inbox.add(entry)) this.listener?.inboxChanged();
  }

  /**
   * The entry is consumed already. Either it was read from the store before that was committed, or another node has stored the same message
   * again; in the second case it must be consumed again, because a task with a message in its inbox cannot end.
   */
  #consumeAgain(id: string, after: number): void {
    if (!isIdempotencyEntry(id) || this.loss !== undefined || this.ended) return;
    this.#buffer.addConsumed(id, after);
  }

  get isInFlight(): boolean {
    return this.#inFlight !== undefined;
  }

  collect(): TaskWrite | undefined {
    if (!this.#needsCommit || this.loss !== undefined) return undefined;
    const { create, end } = this.#buffer.pending;
    if (create !== undefined && end === undefined) this.listener?.storing();
    const pending = this.#buffer.collect();
    this.#inFlight = { done: this.#nextCommit, pending, questions: this.runner.questions };
    this.#needsCommit = false;
    this.#nextCommit = undefined;
    this.#events.collected();
    const head = pending.needsHead ? this.#events.currentHead() : undefined;
    return pending.write({ task: this.ref.id, epoch: this.epoch, head, release: this.#isReleasing });
  }

  committed(write: TaskWrite, outcome: Outcome): void {
    const inFlight = this.#inFlight;
    this.#inFlight = undefined;
    if (inFlight === undefined) return;
    if (outcome.status === "ok" || outcome.status === "inbox") this.#applied(write, outcome.status, inFlight);
    else if (outcome.status === "duplicate" || outcome.status === "full" || outcome.status === "repeated")
      this.#lose({ kind: "refused", status: outcome.status }, inFlight.done);
    else this.#lose({ kind: "lease-lost" }, inFlight.done);
  }

  failed(_write: TaskWrite, error: StoreError): void {
    const inFlight = this.#inFlight;
    this.#inFlight = undefined;
    this.#lose({ kind: "store-unavailable", error }, inFlight?.done);
  }

  /** For the parts of the writer. */
  resumed(): void {
    this.listener?.resumed();
  }

  /** Nothing can be written any more: rejects all that waits. */
  lose(loss: WriterLoss): void {
    this.#lose(loss, undefined);
  }

  #applied(write: TaskWrite, status: "ok" | "inbox", { pending, questions, done }: CommitInFlight): void {
    const { feed } = this;
    const end = status === "ok" ? pending.end : undefined;
    this.isStored = true;
    if (pending.steps !== undefined) this.#hasNewSteps = true;
    if (write.create !== undefined && end === undefined) this.listener?.stored();
    const views = end === undefined ? pending.entries : [...pending.entries, end.entry];
    this.#buffer.committed(pending);
    if (pending.consumed !== undefined) for (const { id, after } of pending.consumed) feed.markConsumed(id, after);
    if (end !== undefined) {
      feed.hasWriter = false;
      if (write.create !== undefined && end.artifacts !== undefined) {
        const history = [...write.history, ...end.history].map((entry) => entry.body);
        feed.finished = { artifacts: end.artifacts, history };
      }
    }
    const head = end?.head ?? write.head;
    feed.advance(views, head && { state: head.state, status: head.status, metadata: head.metadata, questions });
    done?.resolve();
    if (pending.end !== undefined) this.#settleEnd(status);
    if (views.length > 0) this.dependencies.onCommitted(this.ref, views);
  }

  #settleEnd(status: "ok" | "inbox"): void {
    if (status === "inbox") this.#events.rollBackEnd();
    this.#endResult?.resolve(status === "ok" ? "ended" : "inbox");
    this.#endResult = undefined;
  }

  #lose(loss: WriterLoss, inFlight: Deferred<void> | undefined): void {
    if (this.loss === undefined) {
      this.loss = loss;
      this.feed.hasWriter = false;
      this.listener?.lost(loss);
    }
    const reason = abortOf(loss);
    for (const deferred of [inFlight, this.#nextCommit, this.#endResult]) deferred?.reject(reason);
    this.#needsCommit = false;
    this.#nextCommit = undefined;
    this.#endResult = undefined;
    this.feed.wake();
  }

  /** Throws a `TaskAborted` if nothing can be written any more. For the parts of the writer. */
  requireOpen(): void {
    if (this.loss !== undefined) throw abortOf(this.loss);
    if (this.ended) throw new TaskAborted("lease-lost", "The task has ended; nothing can be written to it any more.");
  }

  /** For the parts of the writer. */
  requestCommit(isUrgent: boolean): void {
    this.#needsCommit = true;
    this.dependencies.committer.mark(this, isUrgent);
  }
}
