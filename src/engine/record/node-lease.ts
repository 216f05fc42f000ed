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
  #waiting: (() => void)[] = [];

  constructor(duration: number, clock: Pick<Clock, "now">) {
    this.duration = duration;
    this.#clock = clock;
  }

  /** The lease was renewed within the last half of its duration, so no other process has claimed anything. */
  get isFresh(): boolean {
    return this.#renewedAt !== undefined && this.#clock.now() - this.#renewedAt < this.duration / 2;
  }

  /** Milliseconds since the last renewal was asked for. */
  get age(): number {
    return this.#renewedAt === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() - this.#renewedAt;
  }

  /** The store has renewed the lease, and what this process has lost meanwhile is known. `askedAt`: the time before the call. */
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
