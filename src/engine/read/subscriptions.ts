import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Subscription } from "../api.ts";
import type { Feed } from "./feed.ts";
import { type OpenOptions, openSubscription, type SubscriptionSource } from "./subscription.ts";

export interface SubscriptionLimits {
  readonly maxSubscribers: number;
  readonly maxSubscribersPerTask: number;
}

/** Opens subscriptions and limits their number. */
export class Subscriptions {
  readonly #source: Omit<SubscriptionSource, "onClose">;
  readonly #limits: SubscriptionLimits;
  #size = 0;
  readonly #sizeOf = new Map<TaskId, number>();

  constructor(source: Omit<SubscriptionSource, "onClose">, limits: SubscriptionLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Opens a subscription to a task. `hold` resolves with the task's feed, held, or with `undefined` if there is no such task. Rejects with
   * `resource-exhausted` at a limit.
   */
  async open(
    id: TaskId,
    hold: () => Promise<Feed | undefined>,
    options: OpenOptions,
  ): Promise<Subscription | undefined> {
    const { maxSubscribers, maxSubscribersPerTask } = this.#limits;
    if (this.#size >= maxSubscribers || (this.#sizeOf.get(id) ?? 0) >= maxSubscribersPerTask) {
      throw new A2AError("resource-exhausted", "Too many subscriptions; try again in 5 s.", { retryAfter: 5 });
    }
    // Count before the first await, so that concurrent callers cannot exceed the limit.
    this.#count(id, 1);
    let feed: Feed | undefined;
    let opened: Subscription | undefined;
    try {
      feed = await hold();
      if (feed === undefined) return undefined;
      opened = await openSubscription({ ...this.#source, onClose: () => this.#count(id, -1) }, feed, options);
      return opened;
    } finally {
      if (opened === undefined) {
        this.#count(id, -1);
        if (feed !== undefined) this.#source.feeds.release(feed);
      }
    }
  }

  #count(id: TaskId, by: 1 | -1): void {
    this.#size += by;
    const size = (this.#sizeOf.get(id) ?? 0) + by;
    if (size > 0) this.#sizeOf.set(id, size);
    else this.#sizeOf.delete(id);
  }
}
