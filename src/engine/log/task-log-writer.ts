import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import { isoTime } from "../../internal/iso-time.ts";
import { uuidv7 } from "../../internal/uuid.ts";
import type { ArtifactEvent, StatusEvent, TaskEvent } from "../../protocol/event.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { ArtifactId, MessageId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { writeEvent, writeMessage, writeStatus } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal, type TaskState, type TerminalState } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type {
  HistoryEntry,
  InboxEntry,
  Outcome,
  StepRecord,
  StoreError,
  TaskHead,
  TaskWrite,
} from "../../store/contract.ts";
import { TaskAborted } from "../agent/agent.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import type { TaskRef } from "../api.ts";
import type { Feed } from "../read/feed.ts";
import { LogView } from "../read/log-view.ts";
import { publicRef } from "../read/ticket.ts";
import { isOnceEntry } from "../record/once-entry.ts";
import { lastRunner, type Questions, type RunnerRecord, withUnkept, writeRunner } from "../record/runner-record.ts";
import { traceMetadata } from "../record/trace.ts";
import type { CommitSource } from "./committer.ts";
import { ENGINE_NOTE } from "./note.ts";
import { PendingWrite } from "./pending-write.ts";
import { planStateChange } from "./state-change.ts";
import { readMetadata } from "./task-metadata.ts";
import { transformed } from "./transformed.ts";
import {
  abortOf,
  type StatusOptions,
  type WriterDependencies,
  type WriterListener,
  type WriterLoss,
  type WriterStart,
} from "./writer-contract.ts";

/** What a writer keeps of an artifact: never its content. */
interface ArtifactEntry {
  readonly id: ArtifactId;
  complete: boolean;
  /** The last chunk, while it waits to be committed: it can still be marked as the last one. */
  waiting: { readonly index: number; readonly event: ArtifactEvent } | undefined;
}

/** What is on its way into the store. */
interface Flying {
  readonly pending: PendingWrite;
  readonly done: Deferred<void>;
  readonly questions: Questions | undefined;
}

/** Up to this size the artifacts of a new task are folded as they are written. */
const FOLDED_BYTES = 16 * 1024;

/**
 * The one writer of one task, for as long as it holds the lease. It validates and numbers events and gathers them, with
 * everything else the run leaves behind, for the next commit. Its own state only validates: readers see the feed, which moves on when
 * the commit has gone through.
 */
export class TaskLogWriter implements CommitSource {
  readonly ref: TaskRef;
  readonly inbox: InboxEntry[] = [];
  epoch: number;
  state: TaskState;
  seq: number;
  runner: RunnerRecord;
  active: boolean;
  wakeAt: number | undefined;
  loss: WriterLoss | undefined;
  marked = false;
  listener: WriterListener | undefined;
  readonly feed: Feed;
  readonly #dependencies: WriterDependencies;
  readonly #artifacts = new Map<ArtifactId, ArtifactEntry>();
  #hasNewSteps = false;
  /** False until the task itself is in the store. */
  isStored: boolean;
  /** Bytes of the log. */
  #bytes: number;
  /** The artifacts so far, of a new task while it is small: spares reading its events again at its end. */
  #fold: ArtifactFold | undefined;
  #metadata: string | undefined;
  #trace: JsonObject | undefined;
  #status: string;
  #statusAt: number;
  #historyLength: number;
  #pending = new PendingWrite();
  /** By inbox entry: the seq it follows. */
  #everTaken: Map<string, number> | undefined;
  #answers: WeakMap<InboxEntry, readonly string[]> | undefined;
  #release = false;
  #uncommittedEvents = 0;
  #uncommittedBytes = 0;
  #waiting: Deferred<void> | undefined;
  #flying: Flying | undefined;
  #endResult: Deferred<"ended" | "inbox"> | undefined;
  /** Where the task goes on should a message have come before its end. */
  #beforeEnd: { readonly status: string; readonly statusAt: number; readonly state: TaskState } | undefined;

  constructor(start: WriterStart, feed: Feed, dependencies: WriterDependencies) {
    this.feed = feed;
    this.ref = start.ref;
    this.epoch = start.epoch;
    this.seq = start.seq;
    this.state = start.head.state;
    this.runner = start.runner;
    this.active = start.head.active;
    this.isStored = start.create === undefined;
    this.#bytes = start.runner.bytes;
    this.wakeAt = start.head.wakeAt;
    this.#status = start.head.status;
    this.#statusAt = start.head.statusAt;
    this.#metadata = start.head.metadata;
    this.#historyLength = start.historyLength;
    this.#everTaken = start.taken;
    this.#dependencies = dependencies;
    for (const [id, complete] of start.knownArtifacts) this.#artifacts.set(id, { id, complete, waiting: undefined });
    this.#pending.create = start.create;
    feed.hasWriter = true;
    if (start.create !== undefined) {
      this.#pending.history.push({ after: 0, body: start.create.message });
      this.#historyLength++;
      // Who follows a stream has its events; the store folds them for later readers, off the way of this thread.
      if (!start.create.streams) this.#fold = new ArtifactFold();
      this.#pending.headDirty = true;
      this.#mark();
    }
  }

  get ended(): boolean {
    return isTerminal(this.state);
  }

  /** Something new was committed since the run was last started. Of a turn's first start nothing is known. */
  get progressed(): boolean {
    return this.#hasNewSteps || this.feed.seq > (this.runner.startSeq ?? 0);
  }

  get historyIsFull(): boolean {
    return this.#historyLength >= this.#dependencies.limits.maxHistory;
  }

  hasArtifact(id: ArtifactId): boolean {
    return this.#artifacts.has(id);
  }

  /** Moves to a state that is not terminal, by way of `working` where that is missing. */
  status(state: Exclude<TaskState, TerminalState>, options: StatusOptions = {}): void {
    this.#requireOpen();
    const plan = planStateChange(this.state, state);
    if (!plan.ok) throw new Error(plan.reason);
    const isResumed = state === "working" && isInterrupted(this.state);
    for (const step of plan.via) this.#appendStatus(step, { note: ENGINE_NOTE });
    this.#appendStatus(state, options);
    if (isResumed && this.runner.questions !== undefined) this.listener?.resumed();
  }

  /** `isFinal`: the event is as it must be written, past any transform. */
  artifact(event: ArtifactEvent, options: { readonly note?: string; readonly isFinal?: boolean } = {}): void {
    this.#requireOpen();
    const { limits } = this.#dependencies;
    const id = event.artifact.artifactId;
    let entry = this.#artifacts.get(id);
    if (entry === undefined) {
      if (this.#artifacts.size >= limits.maxArtifacts)
        throw limitFailure("too-many-artifacts", `a task may have ${limits.maxArtifacts} artifacts`);
      entry = { id, complete: false, waiting: undefined };
    }
    if (this.state !== "working") this.status("working", { note: ENGINE_NOTE });
    const written = this.#append(event, options);
    this.#artifacts.set(id, entry);
    entry.complete = event.lastChunk;
    entry.waiting =
      written.kind === "artifact" ? { index: this.#pending.entries.length - 1, event: written } : undefined;
  }

  /** The task's own metadata as JSON text. */
  get metadata(): string | undefined {
    return this.#metadata;
  }

  setMetadata(metadata: string | undefined): void {
    this.#requireOpen();
    this.#metadata = metadata;
    this.#pending.headDirty = true;
    this.#mark();
  }

  /**
   * Marks the last chunk of the artifact as such, unless it is marked already: on that chunk while it is uncommitted, else by a closing chunk
   * without content. A closing chunk changes no state, and is written whatever the limits, or a task that is full could not be closed.
   */
  completeArtifact(id: ArtifactId): void {
    const entry = this.#artifacts.get(id);
    if (entry === undefined || entry.complete) return;
    const logged = entry.waiting === undefined ? undefined : this.#pending.entries[entry.waiting.index];
    if (entry.waiting === undefined || logged === undefined) {
      this.#requireOpen();
      this.#append(closingChunk(id), { note: ENGINE_NOTE, isFinal: true });
    } else {
      const body = writeEvent({ ...entry.waiting.event, lastChunk: true });
      // Completing a chunk changes no content: what was folded still holds.
      this.#bytes += body.length - logged.body.length;
      this.#uncommittedBytes += body.length - logged.body.length;
      this.#pending.entries[entry.waiting.index] = new LogView(logged.seq, body, {
        note: logged.note,
        readership: this.feed,
      });
    }
    entry.complete = true;
  }

  /** Takes a message out of the inbox; `keep` puts it into the history. */
  take(entry: InboxEntry, keep: Message | undefined): void {
    this.#requireOpen();
    const index = this.inbox.indexOf(entry);
    if (index !== -1) this.inbox.splice(index, 1);
    this.#pending.taken.push({ id: entry.id, after: this.seq });
    this.#everTaken ??= new Map();
    this.#everTaken.set(entry.id, this.seq);
    // Kept even beyond the limit, which is there to turn callers away: what was accepted is needed for a replay.
    if (keep !== undefined) this.#keep({ after: this.seq, body: writeMessage(keep), inbox: entry.id });
    else if (isOnceEntry(entry.id)) this.keep({ runner: { unkept: withUnkept(this.runner.unkept, entry.id) } });
    this.#mark();
  }

  remember(step: StepRecord): void {
    this.#requireOpen();
    const { limits } = this.#dependencies;
    if (step.value.length > limits.maxStepBytes)
      throw limitFailure("step-too-large", `what a step returns may be ${limits.maxStepBytes} bytes of JSON`);
    this.#pending.steps.push(step);
    this.#mark();
  }

  forgetSteps(): void {
    this.#pending.forgetSteps = true;
    this.#pending.steps = [];
    this.#mark();
  }

  /** Changes the run's bookkeeping, whether somebody must be at work, and when to wake. */
  keep(change: { runner?: Partial<RunnerRecord>; active?: boolean; wakeAt?: number | undefined }): void {
    this.#requireOpen();
    if (change.runner !== undefined) this.runner = { ...this.runner, ...change.runner };
    if (change.active !== undefined) this.active = change.active;
    if ("wakeAt" in change) this.wakeAt = change.wakeAt;
    this.#pending.headDirty = true;
    this.#mark();
  }

  /**
   * Ends the task, after completing its artifacts. Resolves with `inbox` if a message came in meanwhile: then the task has not ended and the message wants
   * another turn.
   */
  end(state: TerminalState, options: StatusOptions & { readonly unlessInbox: boolean }): Promise<"ended" | "inbox"> {
    this.#requireOpen();
    const plan = planStateChange(this.state, state);
    if (!plan.ok) throw new Error(plan.reason);
    const { isFinal } = options;
    for (const step of plan.via)
      this.#appendStatus(step, { note: ENGINE_NOTE, ...(isFinal !== undefined && { isFinal }) });
    for (const id of this.#artifacts.keys()) this.completeArtifact(id);
    const before = {
      status: this.#status,
      statusAt: this.#statusAt,
      state: this.state,
      history: this.#pending.history,
    };
    this.#pending.history = [];
    try {
      this.#appendStatus(state, options);
    } catch (error) {
      this.#pending.history = before.history;
      throw error;
    }
    this.active = false;
    this.wakeAt = undefined;
    const entry = this.#pending.entries.pop();
    if (entry === undefined) throw new Error("The terminal event was not numbered.");
    const head = this.#head();
    const history = this.#pending.history;
    this.#pending.history = before.history;
    const artifacts = this.#fold === undefined ? undefined : JSON.stringify(this.#fold.artifacts());
    this.#pending.end = {
      entry,
      head,
      history,
      unlessInbox: options.unlessInbox,
      ...(artifacts !== undefined && { artifacts }),
    };
    this.#beforeEnd = { status: before.status, statusAt: before.statusAt, state: before.state };
    this.#endResult = createDeferred<"ended" | "inbox">({ handled: true });
    this.#mark();
    return this.#endResult.promise;
  }

  /** Gives the lease back with the next commit; nothing can be written after it. */
  release(): Promise<void> {
    this.#requireOpen();
    this.#release = true;
    this.#pending.headDirty = true;
    this.#mark();
    return this.flush().finally(() => {
      this.loss ??= { kind: "lease-lost" };
      this.feed.hasWriter = false;
      // What was added while this was on its way comes too late, and whoever waits for it must hear so.
      this.#waiting?.reject(abortOf(this.loss));
      this.#waiting = undefined;
    });
  }

  /** Resolves when everything so far is committed; rejects if it cannot be. */
  flush(): Promise<void> {
    if (this.loss !== undefined) return Promise.reject(abortOf(this.loss));
    return (this.#waiting ?? this.#flying?.done)?.promise ?? Promise.resolve();
  }

  /** `undefined` while there is room for more; otherwise resolves when there is. */
  room(): Promise<void> | undefined {
    const { maxUncommittedEvents, maxUncommittedBytes } = this.#dependencies.limits;
    const over = this.#uncommittedEvents >= maxUncommittedEvents || this.#uncommittedBytes >= maxUncommittedBytes;
    return over ? this.#untilRoom() : undefined;
  }

  async #untilRoom(): Promise<void> {
    await (this.#flying?.done ?? this.#waiting)?.promise;
    await this.room();
  }

  /** Says which questions an entry answers; known only in the process that stored it. Call it before `deliver`. */
  noteAnswers(entry: InboxEntry, requestIds: readonly string[]): void {
    this.#answers ??= new WeakMap();
    this.#answers.set(entry, requestIds);
  }

  /** The questions that were open when the entry was accepted, and that it answers. `undefined`: not known. */
  answersOf(entry: InboxEntry): readonly string[] | undefined {
    return this.#answers?.get(entry);
  }

  deliver(entry: InboxEntry): void {
    const after = this.#everTaken?.get(entry.id);
    if (after !== undefined) {
      this.#takeAgain(entry.id, after);
      return;
    }
    if (this.inbox.some((known) => known.id === entry.id)) return;
    this.inbox.push(entry);
    this.listener?.inboxChanged();
  }

  /**
   * Whoever read it from the store may have done so before it was seen there that it is taken. Or another node has left a message that is to
   * count once a second time, just after it was taken: left there, it would keep the task from ending for ever.
   */
  #takeAgain(id: string, after: number): void {
    if (!isOnceEntry(id) || this.loss !== undefined || this.ended) return;
    this.#pending.taken.push({ id, after });
    this.#mark();
  }

  get isFlying(): boolean {
    return this.#flying !== undefined;
  }

  collect(): TaskWrite | undefined {
    const done = this.#waiting;
    if (done === undefined || this.loss !== undefined) return undefined;
    const pending = this.#pending;
    this.#waiting = undefined;
    this.#pending = new PendingWrite();
    this.#flying = { done, pending, questions: this.runner.questions };
    for (const entry of this.#artifacts.values()) entry.waiting = undefined;
    const head = pending.needsHead ? (pending.end === undefined ? this.#head() : this.#headBeforeEnd()) : undefined;
    return pending.write({ task: this.ref.id, epoch: this.epoch, head, release: this.#release });
  }

  committed(write: TaskWrite, outcome: Outcome): void {
    const flying = this.#flying;
    this.#flying = undefined;
    if (flying === undefined) return;
    if (outcome.status === "ok" || outcome.status === "inbox") this.#applied(write, outcome.status, flying);
    else if (outcome.status === "duplicate" || outcome.status === "full" || outcome.status === "repeated")
      this.#lose({ kind: "refused", status: outcome.status }, flying.done);
    else this.#lose({ kind: "lease-lost" }, flying.done);
  }

  failed(_write: TaskWrite, error: StoreError): void {
    const flying = this.#flying;
    this.#flying = undefined;
    this.#lose({ kind: "store-unavailable", error }, flying?.done);
  }

  /** Nothing more can be written, whoever found out. */
  lose(loss: WriterLoss): void {
    this.#lose(loss, undefined);
  }

  #applied(write: TaskWrite, status: "ok" | "inbox", { pending, questions, done }: Flying): void {
    const { feed } = this;
    const end = status === "ok" ? pending.end : undefined;
    this.isStored = true;
    if (pending.steps.length > 0) this.#hasNewSteps = true;
    if (write.create !== undefined && end === undefined) this.listener?.stored();
    const views = end === undefined ? pending.entries : [...pending.entries, end.entry];
    this.#uncommittedEvents -= pending.entries.length + (pending.end === undefined ? 0 : 1);
    for (const view of pending.entries) this.#uncommittedBytes -= view.body.length;
    if (pending.end !== undefined) this.#uncommittedBytes -= pending.end.entry.body.length;
    for (const taken of pending.taken) feed.markTaken(taken.id, taken.after);
    if (end !== undefined) {
      feed.hasWriter = false;
      if (write.create !== undefined && end.artifacts !== undefined) {
        feed.finished = {
          artifacts: end.artifacts,
          history: [...write.history, ...end.history].map((entry) => entry.body),
        };
      }
    }
    const head = end?.head ?? write.head;
    feed.advance(views, head && { state: head.state, status: head.status, metadata: head.metadata, questions });
    done.resolve();
    if (pending.end !== undefined) this.#settleEnd(status);
    if (views.length > 0) this.#dependencies.onCommitted(this.ref, views);
  }

  #settleEnd(status: "ok" | "inbox"): void {
    if (status === "inbox" && this.#beforeEnd !== undefined) {
      this.seq--;
      this.state = this.#beforeEnd.state;
      this.#status = this.#beforeEnd.status;
      this.#statusAt = this.#beforeEnd.statusAt;
      this.active = true;
    }
    this.#endResult?.resolve(status === "ok" ? "ended" : "inbox");
    this.#endResult = undefined;
    this.#beforeEnd = undefined;
  }

  #lose(loss: WriterLoss, flying: Deferred<void> | undefined): void {
    if (this.loss === undefined) {
      this.loss = loss;
      this.feed.hasWriter = false;
      this.listener?.lost(loss);
    }
    const reason = abortOf(loss);
    for (const deferred of [flying, this.#waiting, this.#endResult]) deferred?.reject(reason);
    this.#waiting = undefined;
    this.#endResult = undefined;
    this.feed.wake();
  }

  #requireOpen(): void {
    if (this.loss !== undefined) throw abortOf(this.loss);
    if (this.ended) throw new TaskAborted("lease-lost", "The task has ended; nothing can be written to it any more.");
  }

  #mark(): void {
    this.#waiting ??= createDeferred<void>({ handled: true });
    this.#dependencies.committer.mark(this);
  }

  #appendStatus(state: TaskState, options: StatusOptions): void {
    const { clock } = this.#dependencies;
    const now = clock.now();
    const message =
      options.parts === undefined ? undefined : this.#statusMessage(options.parts, options.messageMetadata);
    const metadata =
      this.#metadata !== undefined && isTerminal(state)
        ? { ...readMetadata(this.#metadata), ...options.metadata }
        : options.metadata;
    const event: StatusEvent = {
      kind: "status",
      status: { state, ...(message !== undefined && { message }), timestamp: isoTime(now) },
      ...(metadata !== undefined && { metadata }),
    };
    const written = this.#append(event, options);
    if (written.kind !== "status") return;
    this.state = state;
    this.#status = statusText(this.#pending.entries.at(-1)?.body, written);
    this.#statusAt = now;
    this.#pending.headDirty = true;
    if (isInterrupted(state)) this.runner = { ...this.runner, interruptedAt: this.seq };
    if (written.status.message !== undefined)
      this.#keep({ after: this.seq, body: writeMessage(written.status.message) });
  }

  /** With the trace it is written in, if there is one. */
  #traced(event: TaskEvent): TaskEvent {
    const { traceId } = this.runner;
    if (traceId === undefined) return event;
    this.#trace ??= traceMetadata(traceId);
    return { ...event, metadata: { ...event.metadata, ...this.#trace } };
  }

  #append(plain: TaskEvent, { note, isFinal }: { readonly note?: string; readonly isFinal?: boolean }): TaskEvent {
    const { limits, hooks } = this.#dependencies;
    const event = this.#traced(plain);
    const written =
      hooks.transform === undefined || isFinal === true
        ? event
        : transformed(event, hooks.transform(event, publicRef(this.ref)));
    const body = writeEvent(written);
    // A bare or a final status, or a closing chunk, is let through whatever came before it, or a task that is full could not even fail.
    const isLimited =
      written.kind === "artifact"
        ? note !== ENGINE_NOTE
        : written.status.message !== undefined && !isTerminal(written.status.state);
    if (isLimited) {
      if (body.length > limits.maxEventBytes)
        throw limitFailure("event-too-large", `one event may be ${limits.maxEventBytes} bytes`);
      if (this.#bytes + body.length > limits.maxTaskBytes) {
        throw limitFailure("task-too-large", `the events of a task may be ${limits.maxTaskBytes} bytes together`);
      }
    }
    this.seq++;
    this.#bytes += body.length;
    if (this.#bytes > FOLDED_BYTES) this.#fold = undefined;
    this.#fold?.add(written);
    const state = written.kind === "status" ? written.status.state : undefined;
    this.#pending.entries.push(new LogView(this.seq, body, { state, note, readership: this.feed }));
    this.#uncommittedEvents++;
    this.#uncommittedBytes += body.length;
    this.#mark();
    return written;
  }

  #keep(entry: HistoryEntry): void {
    if (this.historyIsFull && entry.inbox === undefined) return;
    this.#historyLength++;
    this.#pending.history.push(entry);
  }

  #statusMessage(parts: readonly Part[], metadata: JsonObject | undefined): Message {
    return {
      // Safe: whoever writes a message names it, and here that is the engine.
      messageId: uuidv7() as MessageId,
      role: "agent",
      parts,
      contextId: this.ref.contextId,
      taskId: publicTaskId(this.ref.id),
      ...(metadata !== undefined && { metadata }),
    };
  }

  #head(): TaskHead {
    return {
      state: this.state,
      status: this.#status,
      statusAt: this.#statusAt,
      ...(this.#metadata !== undefined && { metadata: this.#metadata }),
      runner: writeRunner(this.ended ? lastRunner(this.runner, this.#bytes) : { ...this.runner, bytes: this.#bytes }),
      active: this.active,
      ...(this.wakeAt !== undefined && { wakeAt: this.wakeAt }),
    };
  }

  #headBeforeEnd(): TaskHead {
    const before = this.#beforeEnd;
    return before === undefined ? this.#head() : { ...this.#head(), ...before, active: true };
  }
}

/** The status within an event's text, cut out where it is all there is. */
function statusText(body: string | undefined, event: StatusEvent): string {
  return body === undefined || event.metadata !== undefined
    ? writeStatus(event.status)
    : body.slice('{"status":'.length, -1);
}

/** Says that an artifact is complete, and adds nothing to it. */
function closingChunk(artifactId: ArtifactId): ArtifactEvent {
  return { kind: "artifact", artifact: { artifactId, parts: [{ text: "" }] }, append: true, lastChunk: true };
}

function limitFailure(code: string, sentence: string): TaskFailure {
  return new TaskFailure(`Over a limit: ${sentence}.`, { code });
}
