import type { Clock } from "../../internal/clock.ts";

/**
 * Whether this process may still act for the tasks and webhooks that it has claimed. A process that was suspended, or cut from the store, does
 * not notice that another one has taken them over; what it writes is refused, but what it does elsewhere (a step, a notification) is not. So it
 * asks here first. The clock must go on while the process is suspended, and must
 * not follow the system clock.
 */
export class NodeLease {
  /** Milliseconds that a renewal lasts. */
  readonly duration: number;
  readonly #clock: Pick<Clock, "now">;
  /** When the last successful renewal was asked for. */
  #renewedAt: number | undefined;
  #term = 0;
  #waiting: (() => void)[] = [];

  constructor(duration: number, clock: Pick<Clock, "now">) {
    this.duration = duration;
    this.#clock = clock;
  }

  /** The lease was renewed within the last half of its duration, so no other process has claimed anything. */
  get isFresh(): boolean {
    return this.#renewedAt !== undefined && this.#clock.now() - this.#renewedAt < this.duration / 2;
  }

  /** Changes with the first renewal after the lease was not fresh: another process may have claimed anything before it. */
  get term(): number {
    return this.#term;
  }

  /** The lease has been fresh all the time since `term` was read, so no other process has claimed anything since. */
  isStillFresh(term: number): boolean {
    return this.#term === term && this.isFresh;
  }

  /** Milliseconds since the last renewal was asked for. */
  get age(): number {
    return this.#renewedAt === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() - this.#renewedAt;
  }

  /** The store has renewed the lease, and what this process has lost meanwhile is known. `askedAt`: the time before the call. */
  renewed(askedAt: number): void {
    if (!this.isFresh) this.#term += 1;
    this.#renewedAt = askedAt;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const proceed of waiting) proceed();
  }

  /** `undefined` if the lease is fresh; else resolves after the next renewal. */
  whenFresh(): Promise<void> | undefined {
    if (this.isFresh) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
