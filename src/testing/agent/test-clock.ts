import type { AdjustableClock, Timer } from "../../internal/clock.ts";

interface PendingTimer {
  readonly at: number;
  /** Set for more than `SHORT` milliseconds ahead. */
  readonly isLong: boolean;
  readonly callback: () => void;
}

/** Milliseconds. The engine sets timers of up to this length all the time, to look for work. */
const SHORT = 1000;

/** The time of a test. It moves only by `moveTo`. Each engine has a clock of its own that shows this time. */
export class TestClock {
  #now: number;
  readonly #clocks = new Set<EngineClock>();

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  /** A clock for one engine. After `stop`, none of its timers fires: the engine's process has died. */
  forEngine(): EngineClock {
    const clock = new EngineClock(this, () => this.#clocks.delete(clock));
    this.#clocks.add(clock);
    return clock;
  }

  /** When the next timer is due that was set for more than a second ahead; `undefined`: none. */
  nextLongTimer(): number | undefined {
    const times = [...this.#clocks].flatMap((clock) => clock.longTimers());
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Moves the time forward to `time`, then fires the timers that are due, earliest first. A long jump fires a repeated timer once. */
  moveTo(time: number): void {
    this.#now = Math.max(this.#now, time);
    for (const timer of [...this.#clocks].flatMap((clock) => clock.takeDue()).toSorted((a, b) => a.at - b.at))
      timer.callback();
  }
}

/** The clock of one engine. */
export class EngineClock implements AdjustableClock {
  readonly #time: TestClock;
  readonly #onStop: () => void;
  readonly #timers = new Set<PendingTimer>();

  constructor(time: TestClock, onStop: () => void) {
    this.#time = time;
    this.#onStop = onStop;
  }

  now(): number {
    return this.#time.now();
  }

  setTimer(at: number, callback: () => void): Timer {
    if (Number.isNaN(at)) throw new TypeError("The time of a timer must be a number, not NaN.");
    const timer: PendingTimer = { at, isLong: at - this.now() > SHORT, callback };
    if (at !== Number.POSITIVE_INFINITY) this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** The store has the same time. */
  adjust(): void {}

  longTimers(): readonly number[] {
    return [...this.#timers].filter(({ isLong }) => isLong).map(({ at }) => at);
  }

  /** Removes the timers that are due. */
  takeDue(): readonly PendingTimer[] {
    const due = [...this.#timers].filter(({ at }) => at <= this.now());
    for (const timer of due) this.#timers.delete(timer);
    return due;
  }

  stop(): void {
    this.#timers.clear();
    this.#onStop();
  }
}
