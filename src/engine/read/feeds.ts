import { ChurnMap } from "../../internal/churn-map.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { Store, TaskRecord } from "../../store/contract.ts";
import type { TaskRef } from "../api.ts";
import { readRunner } from "../record/runner-record.ts";
import { Feed, type FeedStart, type TailLimits } from "./feed.ts";

export function isWithin(task: TaskRef, scope: Scope): boolean {
  const own = task.scope;
  return own.owner === scope.owner && own.tenant === scope.tenant && own.agent === scope.agent;
}

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
 * The feeds of all tasks that somebody in this process writes or reads. Everybody holds the one feed of a task; it goes when
 * the last holder lets go, at the end of the event loop's turn, so that whoever was just woken by it still finds it.
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

  /** The feed, if there is one; not held. */
  peek(id: TaskId): Feed | undefined {
    return this.#feeds.get(id);
  }

  /** The task is followed here and written elsewhere. */
  isBehind(id: TaskId): boolean {
    const feed = this.#feeds.get(id);
    return feed !== undefined && !feed.hasWriter && !feed.ended;
  }

  /** Holds the feed of a task; `undefined`: no such task within the scope. */
  async acquire(id: TaskId, scope: Scope): Promise<Feed | undefined> {
    const known = this.#feeds.get(id);
    if (known !== undefined && !known.isGone) return isWithin(known.task, scope) ? this.hold(known) : undefined;
    const record = await this.#store.get(id, { scope, artifacts: false, history: 0 });
    return record === undefined ? undefined : this.of(record);
  }

  /** Holds the feed of this task, made from the record if there is none. */
  of(record: TaskRecord): Feed {
    const ref: TaskRef = { id: record.id, contextId: record.contextId, scope: record.scope, dialect: record.dialect };
    return this.open(ref, startOf(record));
  }

  open(task: TaskRef, start: FeedStart): Feed {
    let feed = this.#feeds.get(task.id);
    // A task of the same name may have been made since.
    if (feed === undefined || feed.isGone) {
      feed = new Feed(task, start, this.#limits);
      this.#feeds.set(task.id, feed);
    }
    return this.hold(feed);
  }

  release(feed: Feed): void {
    feed.holders--;
    if (feed.holders > 0) return;
    if (this.#unheld.length === 0) setImmediate(() => this.#drop());
    this.#unheld.push(feed);
  }

  /** Wakes every reader, to look around. */
  wakeAll(): void {
    for (const feed of this.#feeds.values()) feed.wake();
  }

  /** Looks whether tasks written elsewhere have moved on. */
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

  /** A task that has a feed and no writer here was in the store before: where it is not found now, it was deleted. */
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

  /** Keeps the feed until it is released. */
  hold(feed: Feed): Feed {
    feed.holders++;
    return feed;
  }

  #drop(): void {
    const unheld = this.#unheld;
    this.#unheld = [];
    for (const feed of unheld) {
      const { id } = feed.task;
      if (feed.holders === 0 && this.#feeds.get(id) === feed) this.#feeds.delete(id);
    }
  }
}
