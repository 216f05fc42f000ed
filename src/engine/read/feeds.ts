import type { Bus } from "../../bus/contract.ts";
import { ChurnMap } from "../../internal/churn-map.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { Store, TaskRecord } from "../../store/contract.ts";
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
export function startOf(record: TaskRecord): FeedStart {
  const runner = readRunner(record.head.runner);
  return {
    createdAt: record.createdAt,
    seq: record.seq,
    state: record.head.state,
    status: record.head.status,
    metadata: record.head.metadata,
    interruptedAt: runner.interruptedAt,
    questions: runner.questions,
  };
}

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
      await Promise.all(feeds.filter(({ hasWriter }) => !hasWriter).map((feed) => this.#reload(feed)));
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
      return feed === undefined || feed.hasWriter || (feed.seq === seq && feed.ended === ended) ? [] : [feed];
    });
    await Promise.all(changed.map((feed) => this.#reload(feed)));
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
   * Reads what another process has committed. The events become part of the feed's tail, so that all subscribers in this process share one
   * read, and one encoding, of each event. If the feed is further behind than its tail is long, subscribers read the store themselves.
   */
  async #reload(feed: Feed): Promise<void> {
    const { id } = feed.task;
    const { tailBytes } = this.#limits;
    const record = await this.#store.get(id, { artifacts: false, history: MAX_CONSUMED });
    if (record === undefined || feed.hasWriter || record.seq < feed.seq) return;
    const entries = feed.readers === 0 ? [] : await this.#store.log(id, feed.seq, tailBytes);
    // Another read, or a writer, may have advanced the feed meanwhile.
    if (feed.hasWriter || record.seq < feed.seq) return;
    for (const entry of record.history) if (entry.inbox !== undefined) feed.markConsumed(entry.inbox, entry.after);
    const start = startOf(record);
    const views = entries.filter(({ seq }) => seq > feed.seq && seq <= record.seq).map((entry) => viewOf(entry, feed));
    if (views[0]?.seq === feed.seq + 1 && views.at(-1)?.seq === record.seq) feed.advance(views, start);
    else feed.advanceTo(record.seq, start);
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
