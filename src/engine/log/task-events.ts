import type { ArtifactEvent, TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import { statusIn, writeMessage } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal, type TaskState, type TerminalState } from "../../protocol/state.ts";
import { SpanMetadata, type TraceContext } from "../../protocol/trace-context.ts";
import type { TaskHead } from "../../store/contract.ts";
import type { TaskRef } from "../api.ts";
import { publicRef } from "../read/public-ref.ts";
import { acceptTransformed } from "./accept-transformed.ts";
import { ArtifactStates } from "./artifact-states.ts";
import type { HeadState, Savepoint } from "./head-state.ts";
import { closingChunk, statusEvent, statusMessage } from "./new-events.ts";
import { ENGINE_NOTE } from "./note.ts";
import { planStateChange } from "./state-change.ts";
import { readMetadata } from "./task-metadata.ts";
import type { WriteBuffer } from "./write-buffer.ts";
import type { EndOptions, EventOptions, StatusOptions, WriterDependencies, WriterStart } from "./writer-contract.ts";

/** The writer of a task, as its events see it. */
export interface EventsOwner {
  readonly ref: TaskRef;
  readonly dependencies: WriterDependencies;
  /** Throws if nothing can be written any more. */
  requireOpen(): void;
  /** The task, which waited for the caller, is `working` again. */
  resumed(): void;
}

export interface TaskEventsParts {
  readonly head: HeadState;
  readonly buffer: WriteBuffer;
  readonly knownArtifacts: WriterStart["knownArtifacts"];
}

/**
 * The events of one task: keeps to the allowed state changes, applies the server's `transform`, and appends each event to the
 * {@link WriteBuffer}. Nothing here is visible to readers; they read the feed, which changes with each commit.
 */
export class TaskEvents {
  readonly #owner: EventsOwner;
  readonly #head: HeadState;
  readonly #buffer: WriteBuffer;
  readonly #artifacts: ArtifactStates;
  /** The span that writes the events; `undefined` until an attempt begins. */
  #trace: TraceContext | undefined;
  /** The ids of the span that writes events. */
  #ids: SpanMetadata | undefined;
  /** The status before the terminal one, until the end is committed or rolled back. */
  #beforeEnd: Savepoint | undefined;

  constructor(owner: EventsOwner, { head, buffer, knownArtifacts }: TaskEventsParts) {
    this.#owner = owner;
    this.#head = head;
    this.#buffer = buffer;
    this.#artifacts = new ArtifactStates(knownArtifacts, owner.dependencies.limits.maxArtifacts);
  }

  hasArtifact(id: ArtifactId): boolean {
    return this.#artifacts.has(id);
  }

  /** Changes to a state that is not terminal. Throws an `Error` if that is not allowed. */
  status(state: Exclude<TaskState, TerminalState>, options: StatusOptions): void {
    this.#owner.requireOpen();
    const { state: before, runner } = this.#head;
    this.#appendMissing(state, {});
    this.#appendStatus(state, options);
    if (state === "working" && isInterrupted(before) && runner.questions !== undefined) this.#owner.resumed();
  }

  /** Appends a chunk. The task becomes `working` first, if it is not. Throws a `TaskFailure` over a limit. */
  artifact(event: ArtifactEvent, options: EventOptions): void {
    this.#owner.requireOpen();
    const id = event.artifact.artifactId;
    const artifact = this.#artifacts.getOrCreate(id);
    if (this.#head.state !== "working") this.status("working", { note: ENGINE_NOTE });
    const written = this.#append(event, options);
    this.#artifacts.set(id, artifact);
    artifact.isComplete = event.lastChunk;
    artifact.pendingChunk =
      written.kind === "artifact" ? { index: this.#buffer.pending.entries.length - 1, event: written } : undefined;
  }

  /**
   * Marks the artifact's last chunk as the last one, unless it is marked. A chunk that is still pending gets the mark; otherwise a closing chunk
   * without content is appended. A closing chunk changes no state and counts against no limit: a task at its limit can still be closed.
   */
  completeArtifact(id: ArtifactId): void {
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined || artifact.isComplete) return;
    const { pendingChunk } = artifact;
    if (pendingChunk === undefined || !this.#buffer.completeChunk(pendingChunk)) {
      this.#owner.requireOpen();
      this.#append(closingChunk(id), { note: ENGINE_NOTE, isFinal: true });
    }
    artifact.isComplete = true;
  }

  /** Completes all artifacts and ends the task. With `unlessInbox` the store may refuse the end; then call `rollBackEnd`. */
  end(state: TerminalState, options: EndOptions): void {
    this.#owner.requireOpen();
    const { isFinal, unlessInbox } = options;
    this.#appendMissing(state, { ...(isFinal !== undefined && { isFinal }) });
    for (const id of this.#artifacts.ids()) this.completeArtifact(id);
    const before = this.#head.savepoint();
    const { entry, history } = this.#buffer.separately(() => this.#appendStatus(state, options));
    this.#head.active = false;
    this.#head.wakeAt = undefined;
    const artifacts = this.#buffer.artifactsText();
    const head = this.#head.record(this.#buffer.bytes);
    this.#beforeEnd = before;
    this.#buffer.setEnd({ entry, head, history, unlessInbox, ...(artifacts !== undefined && { artifacts }) });
  }

  /** A message arrived before the end was committed: the task continues in the state it had before. */
  rollBackEnd(): void {
    if (this.#beforeEnd === undefined) return;
    this.#buffer.rollBackEnd();
    this.#head.setStatus(this.#beforeEnd);
    this.#head.active = true;
    this.#beforeEnd = undefined;
  }

  /** The head to store with the next commit. If that ends the task, the head from before: the end carries its own. */
  currentHead(): TaskHead {
    return this.#head.record(this.#buffer.bytes, this.#beforeEnd);
  }

  /** The pending events were collected for a commit. */
  collected(): void {
    this.#artifacts.collected();
  }

  /** Appends the states that must lie between the current one and `state`. Throws if the change is not allowed. */
  #appendMissing(state: TaskState, options: EventOptions): void {
    const plan = planStateChange(this.#head.state, state);
    if (!plan.ok) throw new Error(plan.reason);
    for (const between of plan.via) this.#appendStatus(between, { ...options, note: ENGINE_NOTE });
  }

  #appendStatus(state: TaskState, options: StatusOptions): void {
    const head = this.#head;
    const now = this.#owner.dependencies.clock.now();
    const { parts } = options;
    const message = parts === undefined ? undefined : statusMessage(this.#owner.ref, parts, options);
    const metadata =
      head.metadata !== undefined && isTerminal(state)
        ? { ...readMetadata(head.metadata), ...options.metadata }
        : options.metadata;
    const written = this.#append(statusEvent({ state, now, message, metadata }), options);
    if (written.kind !== "status") return;
    const { seq, pending } = this.#buffer;
    head.setStatus({ state, status: statusIn(pending.entries.at(-1)?.body, written), statusAt: now });
    pending.headDirty = true;
    if (isInterrupted(state)) head.runner = { ...head.runner, interruptedAt: seq };
    if (written.status.message !== undefined)
      this.#buffer.addMessage({ after: seq, body: writeMessage(written.status.message) });
  }

  /** Returns the event as it was appended: with the trace, and transformed unless it is final. */
  #append(event: TaskEvent, { note, isFinal }: EventOptions): TaskEvent {
    const { hooks } = this.#owner.dependencies;
    const traced = this.#withTrace(event);
    const written =
      hooks.transform === undefined || isFinal === true
        ? traced
        : acceptTransformed(traced, hooks.transform(traced, publicRef(this.#owner.ref)));
    this.#buffer.append(written, note, isLimited(written, note));
    return written;
  }

  /** From now on, events name this span. */
  setTrace(trace: TraceContext | undefined): void {
    this.#trace = trace;
    this.#ids = undefined;
  }

  /** Adds the ids of the span that writes the event, if the task belongs to a trace: the attempt's; before the first attempt, the call's. */
  #withTrace(event: TaskEvent): TaskEvent {
    const trace = this.#trace ?? this.#head.runner.trace;
    if (trace === undefined) return event;
    const { traceId, spanId } = trace;
    // A hook gets an object of its own, which it may change.
    const isOwn = event.metadata !== undefined || this.#owner.dependencies.hooks.transform !== undefined;
    if (isOwn) return { ...event, metadata: { ...event.metadata, traceId, spanId } };
    if (this.#ids?.spanId !== spanId) this.#ids = new SpanMetadata(trace);
    return { ...event, metadata: this.#ids };
  }
}

/** A status without a message, a terminal status and a closing chunk are never refused: a task at its limit must still be able to fail. */
function isLimited(event: TaskEvent, note: string | undefined): boolean {
  return event.kind === "artifact"
    ? note !== ENGINE_NOTE
    : event.status.message !== undefined && !isTerminal(event.status.state);
}
