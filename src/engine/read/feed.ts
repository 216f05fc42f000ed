import { isInterrupted, isTerminal, type TaskState } from "../../protocol/state.ts";
import type { TaskRef, ViewEntry } from "../api.ts";
import type { Questions } from "../record/runner-record.ts";

/** How many consumed messages a feed remembers. */
export const MAX_CONSUMED = 256;

/** Artifacts and history of a finished task as stored JSON, so that reading it needs no access to the store. Kept as long as the feed. */
export interface FinishedTask {
  readonly artifacts: string;
  readonly history: readonly string[];
}

/** The first status and the first message of a task, as stored JSON. */
export interface TaskOrigin {
  readonly status: string;
  readonly message: string;
}

/** How many events, and how many bytes of events, a feed keeps in memory. */
export interface TailLimits {
  readonly tailEvents: number;
  readonly tailBytes: number;
}

/**
 * The committed state of one task, as readers in this process see it: the seq of its last event, its status, and its last events. Readers pull events
 * with a cursor, so a slow reader costs no memory.
 */
export class Feed {
  readonly task: TaskRef;
  readonly createdAt: number;
  seq: number;
  state: TaskState;
  /** The status as stored JSON. */
  status: string;
  metadata: string | undefined;
  /** The seq of the last status that waits for the caller (`input-required`, `auth-required`); 0: none. */
  interruptedAt: number;
  /** The questions of the task, as of the last commit. */
  questions: Questions | undefined;
  finished: FinishedTask | undefined;
  /** Present if the task was created in this process. */
  origin: TaskOrigin | undefined;
  /** The task was deleted; no events follow. */
  isGone = false;
  /** The writer of the task is in this process. */
  hasWriter = false;
  /** Ends the watch for hints of other processes. Only `Feeds` sets it. */
  unwatch: (() => void) | undefined;
  /** Number of holders. Only `Feeds` changes it. */
  holders = 0;
  #tail: ViewEntry[] = [];
  #tailBytes = 0;
  #waiting: Array<() => void> = [];
  readonly #readers: FeedReader[] = [];
  /** By inbox entry, for the last 256 consumed: the seq of the last event before. */
  #consumed: Map<string, number> | undefined;
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

  /** Number of subscriptions. */
  get readers(): number {
    return this.#readers.length;
  }

  /** Adds a subscription. */
  addReader(reader: FeedReader): void {
    this.#readers.push(reader);
  }

  removeReader(reader: FeedReader): void {
    const index = this.#readers.indexOf(reader);
    if (index !== -1) this.#readers.splice(index, 1);
  }

  /** A commit of the writer succeeded: readers see these events from now on. */
  advance(entries: readonly ViewEntry[], status: FeedStatus | undefined): void {
    const behind = this.seq;
    for (const entry of entries) {
      // The outcome of a commit may arrive after `advanceTo` has already found its events in the store.
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

  /** Another node has committed events up to `seq`. They are in the store, not in memory. */
  advanceTo(seq: number, status: FeedStatus & { readonly interruptedAt: number }): void {
    if (seq !== this.seq) {
      this.#dropTail();
      this.seq = seq;
    }
    this.interruptedAt = status.interruptedAt;
    this.#setStatus(status);
    this.wake();
  }

  /** A message was consumed after the event `after`. */
  markConsumed(inbox: string, after: number): void {
    this.#consumed ??= new Map();
    this.#consumed.set(inbox, after);
    if (this.#consumed.size > MAX_CONSUMED) {
      const [oldest] = this.#consumed.keys();
      if (oldest !== undefined) this.#consumed.delete(oldest);
    }
  }

  /** The seq of the last event before a message was consumed. `undefined`: it was not consumed, or too long ago. */
  consumedAfter(inbox: string): number | undefined {
    return this.#consumed?.get(inbox);
  }

  /** The events after `after`; `undefined` if some of them are not in memory any more. */
  read(after: number): readonly ViewEntry[] | undefined {
    if (after >= this.seq) return [];
    const first = this.#tail[0]?.seq;
    if (first === undefined || after + 1 < first) return undefined;
    return this.#tail.slice(after + 1 - first);
  }

  /** Calls back once, at the next change. Returns a function that cancels this. */
  onChange(callback: () => void): () => void {
    this.#waiting.push(callback);
    return () => {
      const index = this.#waiting.indexOf(callback);
      if (index !== -1) this.#waiting.splice(index, 1);
    };
  }

  /** Calls all readers, and everyone who waits for a change. */
  wake(): void {
    for (const reader of this.#readers) reader.changed();
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
    // Keep the newest event whatever its size: all readers need it next.
    while (this.#tail.length - drop > 1 && (this.#tail.length - drop > tailEvents || bytes > tailBytes)) {
      bytes -= this.#tail[drop]?.body.length ?? 0;
      drop++;
    }
    if (drop === 0) return;
    this.#tail = this.#tail.slice(drop);
    this.#tailBytes = bytes;
  }
}

/** A subscription, as its feed sees it. */
export interface FeedReader {
  /** Called after every change. It must not add or remove readers before it returns. */
  changed(): void;
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
