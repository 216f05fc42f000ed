import { A2AError } from "../../protocol/error.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { Store } from "../../store/contract.ts";
import type { Batch, BatchReader, SubscribeOptions, Subscription, ViewEntry } from "../api.ts";
import type { Feed, FeedReader, TaskOrigin } from "./feed.ts";
import type { Feeds } from "./feeds.ts";
import { viewOf } from "./log-view.ts";
import { runNextTurn, type TurnWork } from "./next-turn.ts";
import { isHandledAt, type PostedMessage } from "./posted-message.ts";
import { takeSnapshot } from "./snapshot.ts";
import { taskAfter } from "./task-after.ts";

/** Size of a batch. A reader that is far behind gets many batches. */
const BATCH_BYTES = 64 * 1024;

export interface SubscriptionSource {
  readonly store: Store;
  readonly feeds: Feeds;
  /** The server is shutting down: all subscriptions end. */
  readonly isClosing: () => boolean;
  readonly onClose: () => void;
}

/** A cursor over the committed events of a task. */
export class LogSubscription implements Subscription, FeedReader, TurnWork {
  readonly resync: boolean;
  readonly ended: boolean;
  readonly answered: boolean;
  /** Dropped at the first `next()`, so that a stream that idles for days keeps no task in memory. */
  #opening: StoredTask | undefined;
  readonly #source: SubscriptionSource;
  readonly #feed: Feed;
  readonly #posted: PostedMessage | undefined;
  #position: number;
  #closed = false;
  /** Waits for the next events. */
  #reader: BatchReader | undefined;
  isQueued = false;

  constructor(source: SubscriptionSource, feed: Feed, start: SubscriptionStart) {
    this.#source = source;
    this.#feed = feed;
    feed.addReader(this);
    this.#opening = start.opening;
    this.resync = start.resync;
    this.#position = start.opening.seq;
    this.ended = feed.ended && this.#position >= feed.seq;
    this.#posted = start.posted;
    // A question after the opening arrives as an event; `answered` of its batch then decides.
    const isAsking = isInterrupted(start.opening.state) && feed.interruptedAt <= this.#position;
    this.answered = isAsking && isHandledAt(feed, this.#posted, feed.interruptedAt);
  }

  get opening(): StoredTask {
    if (this.#opening === undefined)
      throw new Error("The opening of a subscription is available only before its first next().");
    return this.#opening;
  }

  next(): Promise<Batch | undefined> {
    return new Promise((arrived, failed) => this.take({ arrived, failed }));
  }

  take(reader: BatchReader): void {
    this.#opening = undefined;
    this.#reader = reader;
    this.run();
  }

  changed(): void {
    if (this.#reader !== undefined) runNextTurn(this);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.changed();
    this.#feed.removeReader(this);
    this.#source.feeds.release(this.#feed);
    this.#source.onClose();
  }

  /** Calls the reader back if there are events for it, or if none will come. */
  run(): void {
    const feed = this.#feed;
    const reader = this.#reader;
    if (reader === undefined) return;
    const isOver = this.#closed || this.#source.isClosing();
    if (!isOver && this.#position >= feed.seq && !feed.isGone && !feed.ended) return;
    this.#reader = undefined;
    if (isOver || this.#position >= feed.seq) reader.arrived(undefined);
    else {
      const entries = feed.read(this.#position);
      if (entries === undefined)
        this.#readStore().then(
          (stored) => reader.arrived(this.#batch(stored)),
          (error: unknown) => reader.failed(error),
        );
      else reader.arrived(this.#batch(entries));
    }
  }

  /** Reads events that are not in memory. The store may be ahead of the feed; events that the feed does not show yet are left out. */
  async #readStore(): Promise<readonly ViewEntry[]> {
    const { seq } = this.#feed;
    const entries = await this.#source.store.log(this.#feed.task.id, this.#position, BATCH_BYTES);
    return entries.filter((entry) => entry.seq <= seq).map((entry) => viewOf(entry));
  }

  /** `undefined`: the events were committed but are not in the store any more, because the log of the finished task was dropped. The reader must subscribe again. */
  #batch(entries: readonly ViewEntry[]): Batch | undefined {
    if (entries[0]?.seq !== this.#position + 1) return undefined;
    let bytes = 0;
    let count = 0;
    let last: ViewEntry | undefined;
    for (const entry of entries) {
      if (count > 0 && bytes + entry.body.length > BATCH_BYTES) break;
      bytes += entry.body.length;
      count++;
      last = entry;
      if (entry.state !== undefined && (isInterrupted(entry.state) || isTerminal(entry.state))) break;
    }
    this.#position = last?.seq ?? this.#position;
    return {
      entries: count === entries.length ? entries : entries.slice(0, count),
      answered: isHandledAt(this.#feed, this.#posted, this.#position),
    };
  }
}

interface SubscriptionStart {
  readonly opening: StoredTask;
  readonly resync: boolean;
  readonly posted: PostedMessage | undefined;
}

export interface OpenOptions extends SubscribeOptions {
  /** Without `after`: begin with the task as it was before its first event. */
  readonly fromStart?: boolean;
  /** The message that the reader follows, if it was posted to an inbox. */
  readonly posted?: PostedMessage | undefined;
}

/** Opens a subscription. The caller must hold the feed, so that no event after the opening can be missed. */
export async function openSubscription(
  source: SubscriptionSource,
  feed: Feed,
  options: OpenOptions,
): Promise<LogSubscription> {
  const { posted } = options;
  const after = options.after ?? (options.fromStart === true ? 0 : undefined);
  const whole = async (resync: boolean): Promise<LogSubscription> => {
    const { id, scope } = feed.task;
    const opening = await takeSnapshot(source, { scope, id }, { artifacts: true, largeBytes: options.largeBytes });
    if (opening === undefined) throw new A2AError("task-not-found", "Task not found");
    // Another node writes the task, and this process has not seen its last commit yet.
    if (opening.seq > feed.seq) await source.feeds.refresh([id]);
    // Another node has answered the message already: the reader gets its events, as if it had been there before.
    const before = await taskBeforeMessage(source, feed, { ...options, seq: opening.seq });
    return new LogSubscription(source, feed, { opening: before ?? opening, resync, posted });
  };
  if (after === undefined) return whole(false);
  if (options.after === undefined && feed.origin !== undefined) {
    return new LogSubscription(source, feed, { opening: taskBeforeEvents(feed, feed.origin), resync: false, posted });
  }
  // Another node may have committed events that the caller has seen and this process has not.
  if (after > feed.seq) await source.feeds.refresh([feed.task.id]);
  if (after > feed.seq)
    throw new A2AError("invalid-params", `Last-Event-ID: the task's events end at ${feed.seq}`, {
      violations: [{ field: "Last-Event-ID", description: `the task's events end at ${feed.seq}` }],
    });
  const opening = await taskAfter(source.store, feed, {
    after,
    artifacts: false,
    history: options.after === undefined ? undefined : 0,
  });
  return opening === undefined ? whole(true) : new LogSubscription(source, feed, { opening, resync: false, posted });
}

/**
 * The task as it was when the message was stored, if its present seq is a later one. `undefined`: it is not, or the events since then are not in
 * the store any more.
 */
async function taskBeforeMessage(
  { store }: SubscriptionSource,
  feed: Feed,
  { posted, largeBytes, seq }: OpenOptions & { readonly seq: number },
): Promise<StoredTask | undefined> {
  const after = posted?.after ?? seq;
  return after < seq ? taskAfter(store, feed, { after, artifacts: true, largeBytes }) : undefined;
}

/** The task as it was before its first event. */
function taskBeforeEvents({ task, metadata }: Feed, { status, message }: TaskOrigin): StoredTask {
  return {
    id: publicTaskId(task.id),
    contextId: task.contextId,
    dialect: task.dialect,
    seq: 0,
    state: "submitted",
    status,
    history: `[${message}]`,
    ...(metadata !== undefined && { metadata }),
  };
}
