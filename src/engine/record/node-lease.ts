/**
 * Whether this process may still act for the tasks and webhooks that it has claimed. A process that was suspended, or cut from the store, does
 * not notice that another one has taken them over; what it writes is refused, but what it does elsewhere (a step, a notification) is not. So it
 * asks here first. Times are of the monotonic clock, which goes on while the process is suspended.
 */
export class NodeLease {
  /** Milliseconds that a renewal lasts. */
  readonly duration: number;
  readonly #now: () => number;
  /** When the last successful renewal was asked for. */
  #renewedAt: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(duration: number, now: () => number = () => performance.now()) {
    this.duration = duration;
    this.#now = now;
  }

  /** The lease was renewed within the last half of its duration, so no other process has claimed anything. */
  get isFresh(): boolean {
    return this.#renewedAt !== undefined && this.#now() - this.#renewedAt < this.duration / 2;
  }

  /** Milliseconds since the last renewal was asked for. */
  get age(): number {
    return this.#renewedAt === undefined ? Number.POSITIVE_INFINITY : this.#now() - this.#renewedAt;
  }

  /** The store has renewed the lease, and what this process has lost meanwhile is known. `askedAt`: `performance.now()` before the call. */
  renewed(askedAt: number): void {
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
