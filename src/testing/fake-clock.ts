import type { AdjustableClock, Timer } from "../internal/clock.ts";

interface FakeTimer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to go on. */
export class FakeClock implements AdjustableClock {
  #now: number;
  readonly #timers = new Set<FakeTimer>();

  constructor(now: number = Date.UTC(2030, 0, 1)) {
    this.#now = now;
  }

  /** How many timers are waiting. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimer(at: number, callback: () => void): Timer {
    if (Number.isNaN(at)) throw new TypeError("The time of a timer must be a number, not NaN.");
    const timer: FakeTimer = { at, callback };
    if (at !== Number.POSITIVE_INFINITY) this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Sets the time without calling anybody; timers that became due come with the next `advance`. */
  adjust(now: number): void {
    this.#now = now;
  }

  /**
   * Lets so many milliseconds pass. Timers go off one by one at their times, in order, each with the event loop's turn to
   * itself, so that what it starts may set timers of its own within the span.
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

  /** The earliest timer up to `end`; of several, the one set first. */
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
