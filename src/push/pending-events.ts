import { isStatusBody, viewOf } from "../engine/read/log-view.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { PushEventKind } from "../protocol/operation.ts";
import { readEvent, readStatus, type StoredTask } from "../protocol/serial.ts";
import { isTerminal } from "../protocol/state.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import { type TraceContext, traceContextIn } from "../protocol/trace-context.ts";
import type { LogEntry, Store } from "../store/contract.ts";
import type { PushCodec } from "../wire/codec.ts";
import type { Budget } from "./budget.ts";
import { currentTask, TaskReplay } from "./task-replay.ts";

/** The next notification of a webhook, or a range of events to skip. */
export interface Step {
  /** The last seq that this step covers. */
  readonly upTo: number;
  /** Absent: the webhook wants none of the events up to `upTo`. */
  readonly notification?: Notification;
  /** The task ends with this step. */
  readonly ended: boolean;
}

/** The body of one request, and what its headers depend on. */
export interface Notification {
  /** JSON text in the format of the webhook's version. */
  readonly body: string;
  /** The kind of the last event that it covers. */
  readonly kind: PushEventKind;
  /** The span in which the agent wrote the event. */
  readonly trace?: TraceContext;
}

/** Which events are read, and how they are encoded. */
export interface PendingOptions {
  readonly store: Store;
  readonly task: TaskId;
  readonly contextId: ContextId;
  /** The first seq that the task's log still holds. */
  readonly firstSeq: number;
  /** The dialect in which the task was created. */
  readonly origin: string;
  readonly codec: PushCodec;
  /** The kinds of events that the webhook wants; `undefined`: all. */
  readonly events: readonly PushEventKind[] | undefined;
  /** Bytes that all deliveries together may hold, in addition to the 64 KB that each may always hold. */
  readonly budget: Budget;
  /** How many whole tasks may be rebuilt at a time. */
  readonly replays: Budget;
  readonly now: () => number;
}

/** Bytes of the log that are read at a time. Every delivery may hold so many without asking the budget. */
const PAGE_BYTES = 64 * 1024;
/** A longer task is sent without its artifacts and history; receivers can get the whole task from the server. */
export const MAX_TASK_BYTES: number = 4 * 1024 * 1024;

/** Turns the events after a cursor into notifications, one at a time. Holds one page of the log in memory. */
export class PendingEvents implements Disposable {
  readonly #options: PendingOptions;
  readonly #place: { taskId: TaskId; contextId: ContextId; final: boolean; origin: string };
  readonly #replay: TaskReplay;
  #cursor: number;
  #page: readonly LogEntry[] = [];
  #index = 0;
  /** Bytes taken from the budget for the data in memory now. */
  #borrowed = 0;

  constructor(options: PendingOptions, cursor: number) {
    const { store, task, contextId, origin } = options;
    this.#options = options;
    this.#replay = new TaskReplay(store, task);
    this.#cursor = cursor;
    this.#place = { taskId: publicTaskId(task), contextId, final: false, origin };
  }

  /** The step after the one returned last; `undefined` if no event is pending. */
  async next(): Promise<Step | undefined> {
    if (this.#options.firstSeq > this.#cursor + 1) return this.#afterGap();
    const first = await this.#peek();
    // A page is a snapshot: after an empty one, the next event may have been committed meanwhile.
    if (first === undefined) return undefined;
    if (first.seq > this.#cursor + 1) return this.#afterGap();
    return this.#options.codec.carries === "event" ? this.#nextEvent() : this.#nextTask();
  }

  [Symbol.dispose](): void {
    this.#page = [];
    this.#giveBack();
  }

  /** The next wanted event; unwanted events before it are skipped. */
  async #nextEvent(): Promise<Step | undefined> {
    let ended = false;
    while (this.#index < this.#page.length) {
      const entry = this.#page[this.#index++];
      if (entry === undefined) break;
      this.#cursor = entry.seq;
      const view = viewOf(entry);
      ended = view.state !== undefined && isTerminal(view.state);
      if (!this.#isWanted(kindOf(entry.body))) continue;
      const place = ended ? { ...this.#place, final: true } : this.#place;
      const body = this.#options.codec.encodeEvent(view, place);
      return { upTo: entry.seq, ended, notification: { body, kind: kindOf(entry.body), ...traceOf(entry.body) } };
    }
    return { upTo: this.#cursor, ended };
  }

  /** Everything up to the next status, or all chunks so far if no status follows. */
  async #nextTask(): Promise<Step | undefined> {
    let wanted: LogEntry | undefined;
    let ended = false;
    for (let entry = await this.#peek(); entry !== undefined; entry = await this.#peek()) {
      this.#index += 1;
      this.#cursor = entry.seq;
      this.#replay.pass(entry);
      const kind = kindOf(entry.body);
      if (this.#isWanted(kind)) wanted = entry;
      if (kind !== "status") continue;
      const { state } = viewOf(entry);
      ended = state !== undefined && isTerminal(state);
      if (wanted !== undefined) break;
    }
    if (wanted === undefined) return { upTo: this.#cursor, ended };
    const { codec, now } = this.#options;
    const upTo = this.#cursor;
    const kind = kindOf(wanted.body);
    const event = kind === "status" ? readEvent(wanted.body) : undefined;
    const at = event?.kind === "status" ? Date.parse(event.status.timestamp ?? "") : now();
    const body = await this.#whole(
      () => this.#replay.at(upTo),
      (stored) => codec.encodeTask(stored, { kind, at }),
    );
    return body === undefined ? undefined : { upTo, ended, notification: { body, kind, ...traceOf(wanted.body) } };
  }

  /** The log no longer holds the events after the cursor: the whole task replaces them. */
  async #afterGap(): Promise<Step | undefined> {
    const { store, task, codec } = this.#options;
    let current: StoredTask | undefined;
    const body = await this.#whole(
      async () => {
        current = await currentTask(store, task);
        return current;
      },
      (stored) =>
        codec.encodeTask(stored, { kind: "status", at: Date.parse(readStatus(stored.status).timestamp ?? "") }),
    );
    if (current === undefined || body === undefined) return undefined;
    this.#cursor = current.seq;
    this.#page = [];
    this.#index = 0;
    return { upTo: current.seq, ended: isTerminal(current.state), notification: { body, kind: "status" } };
  }

  /** Reads a whole task and encodes it, within the budget. `undefined`: the task was deleted. */
  async #whole(
    read: () => Promise<StoredTask | undefined>,
    write: (task: StoredTask) => string,
  ): Promise<string | undefined> {
    for (;;) {
      const stored = await this.#withReplaySlot(read);
      if (stored === undefined) return undefined;
      const bytes = sizeOf(stored);
      if (bytes > MAX_TASK_BYTES) return write(withoutContents(stored));
      if (this.#borrowed >= bytes || bytes <= PAGE_BYTES || this.#options.budget.tryTake(bytes)) {
        if (bytes > PAGE_BYTES && this.#borrowed < bytes) this.#borrowed += bytes;
        return write(stored);
      }
      // Drop the task while waiting for budget and read it again afterwards: holding it is what the budget prevents.
      await this.#borrow(bytes);
    }
  }

  async #withReplaySlot<T>(work: () => Promise<T>): Promise<T> {
    const { replays } = this.#options;
    await replays.take(1);
    try {
      return await work();
    } finally {
      replays.give(1);
    }
  }

  /** The next entry of the log; loads the next page if needed. */
  async #peek(): Promise<LogEntry | undefined> {
    if (this.#index >= this.#page.length) await this.#load();
    return this.#page[this.#index];
  }

  /** A single event may be larger than a page; it is then held only within the budget. */
  async #load(): Promise<void> {
    const { store, task, budget } = this.#options;
    this.#page = [];
    this.#index = 0;
    this.#giveBack();
    const page = await store.log(task, this.#cursor, PAGE_BYTES);
    const bytes = page.reduce((sum, { body, note = "" }) => sum + body.length + note.length, 0);
    if (bytes <= 2 * PAGE_BYTES) this.#page = page;
    else if (budget.tryTake(bytes)) {
      this.#borrowed = bytes;
      this.#page = page;
    } else {
      await this.#borrow(bytes);
      this.#page = await store.log(task, this.#cursor, PAGE_BYTES);
    }
  }

  /** Gives back what it has before it waits: two deliveries that each hold a part would wait for each other for ever. */
  async #borrow(bytes: number): Promise<void> {
    this.#page = [];
    this.#index = 0;
    this.#giveBack();
    await this.#options.budget.take(bytes);
    this.#borrowed = bytes;
  }

  #giveBack(): void {
    if (this.#borrowed > 0) this.#options.budget.give(this.#borrowed);
    this.#borrowed = 0;
  }

  #isWanted(kind: PushEventKind): boolean {
    return this.#options.events?.includes(kind) ?? true;
  }
}

function kindOf(body: string): PushEventKind {
  return isStatusBody(body) ? "status" : "artifact";
}

/** The span in the event's metadata, if any. Parses the event only if its text mentions a trace. */
function traceOf(body: string): Pick<Notification, "trace"> {
  const trace = body.includes('"traceId"') ? traceContextIn(readEvent(body).metadata) : undefined;
  return trace === undefined ? {} : { trace };
}

/** In characters, which is close enough to bytes for the budget. */
function sizeOf({ status, artifacts = "", history = "", metadata = "" }: StoredTask): number {
  return status.length + artifacts.length + history.length + metadata.length;
}

function withoutContents({ artifacts: _artifacts, history: _history, ...rest }: StoredTask): StoredTask {
  return rest;
}
