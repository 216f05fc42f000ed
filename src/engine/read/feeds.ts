import type { Bus } from "../../bus/contract.ts";
import { ChurnMap } from "../../internal/churn-map.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { Store, TaskChange, TaskHead, TaskRecord } from "../../store/contract.ts";
import type { TaskRef } from "../api.ts";
import { readRunner } from "../record/runner-record.ts";
import { Feed, type FeedStart, MAX_CONSUMED, type TailLimits } from "./feed.ts";
import { viewOf } from "./log-view.ts";

/** Whether the task belongs to this scope. */
export function isWithin(task: TaskRef, scope: Scope): boolean {
  const { owner, tenant, agent } = task.scope;
  return owner === scope.owner && tenant === scope.tenant && agent === scope.agent;
}

/** The state of a feed for a task as the store has it. */
export function startOf({ createdAt, seq, head }: TaskRecord): FeedStart {
  return { createdAt, seq, ...statusOf(head) };
}

function statusOf({ state, status, metadata, runner }: TaskHead): Omit<FeedStart, "createdAt" | "seq"> {
  const { interruptedAt, questions } = readRunner(runner);
  return { state, status, metadata, interruptedAt, questions };
}

/** Tasks that one call reads at most, and about how many bytes of their events. */
const FEEDS_PER_READ = 200;
const BYTES_PER_READ = 4 * 1024 * 1024;

export interface FeedsOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly limits: TailLimits;
}

/**
 * The feeds of all tasks that this process writes or reads: one per task, shared by its writer and its readers. A feed is removed one turn of the
 * event loop after its last holder has released it, so that readers that it has just woken still find it.
 */
export class Feeds {
  readonly #store: Store;
  readonly #bus: Bus;
  readonly #limits: TailLimits;
  readonly #feeds = new ChurnMap<TaskId, Feed>();
  #unheld: Feed[] = [];
  readonly #hinted = new Set<TaskId>();
  #following: Promise<void> | undefined;

  constructor({ store, bus, limits }: FeedsOptions) {
    this.#store = store;
    this.#bus = bus;
    this.#limits = limits;
  }

  get size(): number {
    return this.#feeds.size;
  }

  /** The feed of a task, if there is one. Does not hold it. */
  peek(id: TaskId): Feed | undefined {
    return this.#feeds.get(id);
  }

  /** Whether the task is read in this process and written in another one, so that its feed may be behind the store, or behind this seq. */
  isBehind(id: TaskId, seq: number = Number.POSITIVE_INFINITY): boolean {
    const feed = this.#feeds.get(id);
    return feed !== undefined && !feed.hasWriter && !feed.ended && feed.seq < seq;
  }

  /** Holds the feed of a task, created if needed. `undefined`: the scope has no such task. */
  async acquire(id: TaskId, scope: Scope): Promise<Feed | undefined> {
    const known = this.#feeds.get(id);
    if (known !== undefined && !known.isGone) return isWithin(known.task, scope) ? this.hold(known) : undefined;
    const record = await this.#store.get(id, { scope, artifacts: false, history: 0 });
    if (record === undefined) return undefined;
    const feed = this.of(record);
    if (!feed.hasWriter && !feed.ended) feed.unwatch ??= this.#bus.watch(id);
    return feed;
  }

  /** Holds the feed of the task of this record, created if needed. */
  of(record: TaskRecord): Feed {
    const ref: TaskRef = { id: record.id, contextId: record.contextId, scope: record.scope, dialect: record.dialect };
    return this.open(ref, startOf(record));
  }

  /** Holds the feed of a task, created with `start` if needed. */
  open(task: TaskRef, start: FeedStart): Feed {
    let feed = this.#feeds.get(task.id);
    // The feed may be of a deleted task with the same id.
    if (feed === undefined || feed.isGone) {
      feed = new Feed(task, start, this.#limits);
      this.#feeds.set(task.id, feed);
    }
    return this.hold(feed);
  }

  release(feed: Feed): void {
    feed.holders--;
    if (feed.holders > 0) {
      // Its writer is gone and readers stay: another process may write the task from now on.
      if (!feed.hasWriter && !feed.ended && this.#feeds.get(feed.task.id) === feed)
        feed.unwatch ??= this.#bus.watch(feed.task.id);
      return;
    }
    if (this.#unheld.length === 0) setImmediate(() => this.#removeUnheld());
    this.#unheld.push(feed);
  }

  /** Wakes all readers, so that they check whether the server is shutting down. */
  wakeAll(): void {
    for (const feed of this.#feeds.values()) feed.wake();
  }

  /** Other processes have committed events of these tasks. However many hints arrive, each feed is read by one call at a time. */
  follow(ids: readonly TaskId[]): Promise<void> {
    for (const id of ids) this.#hinted.add(id);
    this.#following ??= this.#followHinted().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  async #followHinted(): Promise<void> {
    while (this.#hinted.size > 0) {
      const feeds = Array.from(this.#hinted, (id) => this.#feeds.get(id)).filter((feed) => feed !== undefined);
      this.#hinted.clear();
      await this.#readChanges(feeds.filter(({ hasWriter }) => !hasWriter).map((feed) => ({ feed, after: feed.seq })));
    }
  }

  /** Updates the feeds of tasks that other processes write. `ids`: only these; absent: all. */
  async refresh(ids?: readonly TaskId[]): Promise<void> {
    const followed: TaskId[] = [];
    for (const id of ids ?? this.#feeds.keys()) {
      if (this.isBehind(id)) followed.push(id);
    }
    if (followed.length === 0) return;
    const positions = await this.#store.positions(followed);
    if (positions.length < followed.length) this.#markGone(followed, new Set(positions.map(({ id }) => id)));
    const changed = positions.flatMap(({ id, seq, ended }) => {
      const feed = this.#feeds.get(id);
      if (feed === undefined || feed.hasWriter || (feed.seq === seq && feed.ended === ended)) return [];
      // A feed that has the last event and not the end reads that event again.
      return [{ feed, after: Math.min(feed.seq, seq - 1) }];
    });
    await this.#readChanges(changed);
  }

  /** Tasks that have a feed but no writer here were in the store before. Those that are not found any more were deleted. */
  #markGone(followed: readonly TaskId[], found: ReadonlySet<TaskId>): void {
    for (const id of followed) {
      const feed = this.#feeds.get(id);
      if (feed === undefined || feed.hasWriter || found.has(id)) continue;
      feed.isGone = true;
      feed.wake();
    }
  }

  /**
   * Reads what other processes have committed, for many tasks in one call. The events become part of the feed's tail, so that all subscribers in
   * this process share one read, and one encoding, of each event. If the feed is further behind than its tail is long, subscribers read the
   * store themselves.
   */
  async #readChanges(behind: readonly Behind[]): Promise<void> {
    for (let first = 0; first < behind.length; first += FEEDS_PER_READ) {
      const some = behind.slice(first, first + FEEDS_PER_READ);
      const maxBytes = Math.min(this.#limits.tailBytes, Math.floor(BYTES_PER_READ / some.length));
      const known = some.map(({ feed, after }) => {
        return { id: feed.task.id, after, maxBytes: feed.readers === 0 ? 0 : maxBytes };
      });
      const changes = await this.#store.changes(known, MAX_CONSUMED);
      const feeds = new Map(some.map(({ feed }) => [feed.task.id, feed]));
      for (const change of changes) {
        const feed = feeds.get(change.id);
        if (feed !== undefined) applyChange(feed, change);
      }
    }
  }

  /** Keeps the feed until `release`. */
  hold(feed: Feed): Feed {
    feed.holders++;
    return feed;
  }

  #removeUnheld(): void {
    const unheld = this.#unheld;
    this.#unheld = [];
    for (const feed of unheld) {
      const { id } = feed.task;
      if (feed.holders > 0 || this.#feeds.get(id) !== feed) continue;
      this.#feeds.delete(id);
      feed.unwatch?.();
    }
  }
}

/** A feed, and the seq after which its task is read. */
interface Behind {
  readonly feed: Feed;
  readonly after: number;
}

function applyChange(feed: Feed, { seq, head, entries = [], consumed }: TaskChange): void {
  // Another read, or a writer, may have advanced the feed meanwhile.
  if (feed.hasWriter || seq < feed.seq) return;
  for (const { inbox, after } of consumed) feed.markConsumed(inbox, after);
  const status = statusOf(head);
  const views = entries.filter((entry) => entry.seq > feed.seq).map((entry) => viewOf(entry, feed));
  if (views[0]?.seq === feed.seq + 1 && views.at(-1)?.seq === seq) feed.advance(views, status);
  else feed.advanceTo(seq, status);
}
