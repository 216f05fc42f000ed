import { isInterrupted, isTerminal, type TaskState } from "../../protocol/state.ts";
import type { TaskRef, ViewEntry } from "../api.ts";
import type { Questions } from "../record/runner-record.ts";

/** What is known of a finished task without asking the store; lives only as long as its feed. */
export interface FinishedTask {
  readonly artifacts: string;
  readonly history: readonly string[];
}

/** A task as it was made: its first status and message, as stored. */
export interface TaskOrigin {
  readonly status: string;
  readonly message: string;
}

export interface TailLimits {
  readonly tailEvents: number;
  readonly tailBytes: number;
}

/**
 * The committed view of one task in this process: how far its log has come, its status, and the last few events. Readers
 * hold a cursor and ask; they never get anything pushed at them, so that a slow one costs nothing but its cursor.
 */
export class Feed {
  readonly task: TaskRef;
  readonly createdAt: number;
  seq: number;
  state: TaskState;
  /** Stored JSON of the status. */
  status: string;
  metadata: string | undefined;
  /** The last status event that waits for the caller, 0 if there was none. */
  interruptedAt: number;
  /** The task's questions, as of the last commit. */
  questions: Questions | undefined;
  finished: FinishedTask | undefined;
  /** How the task began, where that was in this process. */
  origin: TaskOrigin | undefined;
  /** The task was deleted, and nothing comes any more. */
  isGone = false;
  /** Set while the task's writer is in this process. */
  hasWriter = false;
  /** How many subscriptions read it. */
  readers = 0;
  /** How many hold this feed. Kept by the registry. */
  holders = 0;
  #tail: ViewEntry[] = [];
  #tailBytes = 0;
  #waiting: Array<() => void> = [];
  /** Which seq the messages follow that were taken lately, by inbox id. */
  #taken: Map<string, number> | undefined;
  readonly #limits: TailLimits;

  constructor(task: TaskRef, start: FeedStart, limits: TailLimits) {
    this.task = task;
    this.createdAt = start.createdAt;
    this.seq = start.seq;
    this.state = start.state;
    this.status = start.status;
    this.metadata = start.metadata;
    this.interruptedAt = start.interruptedAt;
    this.questions = start.questions;
    this.#limits = limits;
  }

  get ended(): boolean {
    return isTerminal(this.state);
  }

  /** The writer's commit went through: these events are visible from now on. */
  advance(entries: readonly ViewEntry[], status: FeedStatus | undefined): void {
    const behind = this.seq;
    for (const entry of entries) {
      // The answer to this commit may come after somebody has noticed it, or more, in the store.
      if (entry.seq <= behind) continue;
      if (entry.seq !== this.seq + 1) this.#dropTail();
      this.#tail.push(entry);
      this.#tailBytes += entry.body.length;
      this.seq = entry.seq;
      if (entry.state !== undefined && isInterrupted(entry.state)) this.interruptedAt = entry.seq;
    }
    this.#trim();
    const last = entries.at(-1)?.seq ?? behind;
    if (status !== undefined && last >= behind) this.#setStatus(status);
    this.wake();
  }

  /** Another node's commit was noticed: the events are in the store, not here. */
  advanceTo(seq: number, status: FeedStatus & { readonly interruptedAt: number }): void {
    if (seq !== this.seq) {
      this.#dropTail();
      this.seq = seq;
    }
    this.interruptedAt = status.interruptedAt;
    this.#setStatus(status);
    this.wake();
  }

  markConsumed(inbox: string, after: number): void {
    this.#taken ??= new Map();
    this.#taken.set(inbox, after);
    if (this.#taken.size > 256) {
      const [oldest] = this.#taken.keys();
      if (oldest !== undefined) this.#taken.delete(oldest);
    }
  }

  consumedAfter(inbox: string): number | undefined {
    return this.#taken?.get(inbox);
  }

  /** Events after `after`; `undefined` if they reach further back than the tail. */
  read(after: number): readonly ViewEntry[] | undefined {
    if (after >= this.seq) return [];
    const first = this.#tail[0]?.seq;
    if (first === undefined || after + 1 < first) return undefined;
    return this.#tail.slice(after + 1 - first);
  }

  /** Calls back once, at the next change. Returns how to take that back. */
  onChange(callback: () => void): () => void {
    this.#waiting.push(callback);
    return () => {
      const index = this.#waiting.indexOf(callback);
      if (index !== -1) this.#waiting.splice(index, 1);
    };
  }

  wake(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const callback of waiting) callback();
  }

  #setStatus(status: FeedStatus): void {
    this.state = status.state;
    this.status = status.status;
    this.metadata = status.metadata;
    this.questions = status.questions;
  }

  #dropTail(): void {
    this.#tail = [];
    this.#tailBytes = 0;
  }

  #trim(): void {
    let drop = 0;
    let bytes = this.#tailBytes;
    const { tailEvents, tailBytes } = this.#limits;
    // The newest event stays whatever its size: every reader is about to want it.
    while (this.#tail.length - drop > 1 && (this.#tail.length - drop > tailEvents || bytes > tailBytes)) {
      bytes -= this.#tail[drop]?.body.length ?? 0;
      drop++;
    }
    if (drop === 0) return;
    this.#tail = this.#tail.slice(drop);
    this.#tailBytes = bytes;
  }
}

export interface FeedStatus {
  readonly state: TaskState;
  readonly status: string;
  readonly metadata: string | undefined;
  readonly questions: Questions | undefined;
}

export interface FeedStart extends FeedStatus {
  readonly createdAt: number;
  readonly seq: number;
  readonly interruptedAt: number;
}
