import { ChurnMap } from "../../internal/churn-map.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { Store, TaskRecord } from "../../store/contract.ts";
import type { TaskRef } from "../api.ts";
import { readRunner } from "../record/runner-record.ts";
import { Feed, type FeedStart, type TailLimits } from "./feed.ts";

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

/**
 * The feeds of all tasks that this process writes or reads: one per task, shared by its writer and its readers. A feed is removed one turn of the
 * event loop after its last holder has released it, so that readers that it has just woken still find it.
 */
export class Feeds {
  readonly #store: Store;
  readonly #limits: TailLimits;
  readonly #feeds = new ChurnMap<TaskId, Feed>();
  #unheld: Feed[] = [];

  constructor(store: Store, limits: TailLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  get size(): number {
    return this.#feeds.size;
  }

  /** The feed of a task, if there is one. Does not hold it. */
  peek(id: TaskId): Feed | undefined {
    return this.#feeds.get(id);
  }

  /** Whether the task is read in this process and written in another one, so that its feed may be behind the store. */
  isBehind(id: TaskId): boolean {
    const feed = this.#feeds.get(id);
    return feed !== undefined && !feed.hasWriter && !feed.ended;
  }

  /** Holds the feed of a task, created if needed. `undefined`: the scope has no such task. */
  async acquire(id: TaskId, scope: Scope): Promise<Feed | undefined> {
    const known = this.#feeds.get(id);
    if (known !== undefined && !known.isGone) return isWithin(known.task, scope) ? this.hold(known) : undefined;
    const record = await this.#store.get(id, { scope, artifacts: false, history: 0 });
    return record === undefined ? undefined : this.of(record);
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
    if (feed.holders > 0) return;
    if (this.#unheld.length === 0) setImmediate(() => this.#removeUnheld());
    this.#unheld.push(feed);
  }

  /** Wakes all readers, so that they check whether the server is shutting down. */
  wakeAll(): void {
    for (const feed of this.#feeds.values()) feed.wake();
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
    for (const { id, seq, ended } of positions) {
      const feed = this.#feeds.get(id);
      if (feed === undefined || feed.hasWriter || (feed.seq === seq && feed.ended === ended)) continue;
      await this.#reload(feed);
    }
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

  async #reload(feed: Feed): Promise<void> {
    const record = await this.#store.get(feed.task.id, { artifacts: false });
    if (record === undefined || feed.hasWriter || record.seq < feed.seq) return;
    for (const entry of record.history) if (entry.inbox !== undefined) feed.markConsumed(entry.inbox, entry.after);
    feed.advanceTo(record.seq, startOf(record));
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
      if (feed.holders === 0 && this.#feeds.get(id) === feed) this.#feeds.delete(id);
    }
  }
}
