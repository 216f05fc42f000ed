import { A2AError } from "../../protocol/error.ts";
import { readEvent, type StoredTask, writeStatus } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { Store } from "../../store/contract.ts";
import type { Batch, BatchReader, SubscribeOptions, Subscription, ViewEntry } from "../api.ts";
import type { Feed, FeedReader, TaskOrigin } from "./feed.ts";
import type { Feeds } from "./feeds.ts";
import { isStatusBody, viewOf } from "./log-view.ts";
import { runNextTurn, type TurnWork } from "./next-turn.ts";
import { isHandledAt, type PostedMessage } from "./posted-message.ts";
import { LogDropped, readLog } from "./read-log.ts";
import { recordedTask, takeSnapshot } from "./snapshot.ts";

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
    return new LogSubscription(source, feed, { opening, resync, posted });
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
  const record = await source.store.get(feed.task.id, {
    artifacts: false,
    history: options.after === undefined ? undefined : 0,
    upTo: after,
  });
  if (record === undefined) throw new A2AError("task-not-found", "Task not found");
  if (after + 1 < record.firstSeq) return whole(true);
  const status = await statusAt(source.store, feed, { after, createdAt: record.createdAt });
  if (status === undefined) return whole(true);
  const task = await recordedTask(source.store, record, {
    artifacts: false,
    history: options.after === undefined ? undefined : 0,
  });
  if (task === undefined) throw new A2AError("task-not-found", "Task not found");
  return new LogSubscription(source, feed, { opening: { ...task, ...status, seq: after }, resync: false, posted });
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

/** The status that the task had after the event `after`. `undefined`: the log was dropped. */
async function statusAt(
  ...which: Parameters<typeof readStatusAt>
): Promise<Pick<StoredTask, "state" | "status"> | undefined> {
  try {
    return await readStatusAt(...which);
  } catch (error) {
    if (error instanceof LogDropped) return undefined;
    throw error;
  }
}

/** The last status in the log up to `after`; without one, `submitted`. */
async function readStatusAt(
  store: Store,
  feed: Feed,
  { after, createdAt }: { readonly after: number; readonly createdAt: number },
): Promise<Pick<StoredTask, "state" | "status">> {
  // Usually a status is among the last 256 events; otherwise read the log from the start.
  for (const from of [Math.max(0, after - 256), 0]) {
    let found: string | undefined;
    for await (const { body } of readLog(store, feed.task.id, { after: from, upTo: after }))
      if (isStatusBody(body)) found = body;
    if (found !== undefined) {
      const event = readEvent(found);
      if (event.kind === "status") return { state: event.status.state, status: writeStatus(event.status) };
    }
  }
  return {
    state: "submitted",
    status: writeStatus({ state: "submitted", timestamp: new Date(createdAt).toISOString() }),
  };
}
