import type { AdjustableClock, Timer } from "../internal/clock.ts";

interface FakeTimer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that moves only when a test calls `advance` or `adjust`. */
export class FakeClock implements AdjustableClock {
  #now: number;
  readonly #timers = new Set<FakeTimer>();

  constructor(now: number = Date.UTC(2030, 0, 1)) {
    this.#now = now;
  }

  /** The number of timers that have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return Math.floor(this.#now);
  }

  setTimer(at: number, callback: () => void): Timer {
    if (Number.isNaN(at)) throw new TypeError("The time of a timer must be a number, not NaN.");
    // The clock has reached `at` when its whole milliseconds have.
    const timer: FakeTimer = { at: Math.ceil(at), callback };
    if (at !== Number.POSITIVE_INFINITY) this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Sets the time without firing timers; due timers fire during the next `advance`. */
  adjust(now: number): void {
    this.#now = now;
  }

  /**
   * Moves the clock forward. Timers fire one by one, in order, each at its own time. After each timer the event loop turns once, so
   * work that the timer starts can set further timers within the same span.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await turn();
    for (let timer = this.#due(end); timer !== undefined; timer = this.#due(end)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.at);
      timer.callback();
      await turn();
    }
    this.#now = end;
  }

  /** The earliest timer up to `end`; among equal times the one set first. */
  #due(end: number): FakeTimer | undefined {
    let earliest: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (earliest === undefined || timer.at < earliest.at)) earliest = timer;
    }
    return earliest;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
