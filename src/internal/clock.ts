import { TimerQueue } from "./timer-queue.ts";

/** The time in whole milliseconds since 1970, and timers. */
export interface Clock {
  now(): number;
  /**
   * Calls `callback` once at the time `at` or later, never synchronously. A past time fires in the next turn of the event loop; `Infinity` never.
   */
  setTimer(at: number, callback: () => void, options?: TimerOptions): Timer;
}

export interface TimerOptions {
  /** The timer does not keep the process alive. */
  readonly unref?: boolean;
}

export interface Timer {
  /** Has no effect after the timer fired. */
  cancel(): void;
}

/** A clock that can follow another clock, such as that of a database. */
export interface AdjustableClock extends Clock {
  /** Sets the present time, forwards or backwards. Timers that became due fire. */
  adjust(now: number): void;
}

/** Milliseconds that the clock must move before timers are set again: it is adjusted a little all the time. */
const DRIFT = 20;

/**
 * A clock that reads the system time once and continues with the monotonic clock, so that setting the system clock has no effect. Only `adjust`
 * moves it.
 */
export function createClock(): AdjustableClock {
  let base = Date.now() - performance.now();
  let armedBase = base;

  const now = (): number => Math.floor(base + performance.now());
  const timers = new TimerQueue({ now, unref: false });
  const unrefTimers = new TimerQueue({ now, unref: true });
  return {
    now,
    setTimer(at, callback, options) {
      if (Number.isNaN(at)) throw new TypeError("The time of a timer must be a number, not NaN.");
      return (options?.unref === true ? unrefTimers : timers).add(at, callback);
    },
    adjust(current) {
      if (!Number.isFinite(current)) throw new TypeError(`A clock cannot be set to ${current}.`);
      base = current - performance.now();
      if (Math.abs(base - armedBase) < DRIFT) return;
      armedBase = base;
      timers.rearm();
      unrefTimers.rearm();
    },
  };
}

/** Maximum adjustment as a share of the time since the last comparison. Real clocks drift by less than a tenth of it. */
const MAX_SLEW = 0.01;

/** What is known of the present time of another clock: it was asked, and its answer took a while. */
export interface TimeRange {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * Moves a clock towards the time of another clock, by at most 1 % of `elapsed`, the milliseconds since the last comparison. This corrects drift,
 * while a jump of the other clock hardly moves running deadlines. A clock within the range stays as it is: a slow answer says too little to
 * correct what faster ones have shown.
 */
export function slewTowards(clock: AdjustableClock, { earliest, latest }: TimeRange, elapsed: number): void {
  const most = Math.max(0, elapsed) * MAX_SLEW;
  const now = clock.now();
  const ahead = Math.max(earliest, Math.min(latest, now)) - now;
  if (ahead !== 0) clock.adjust(now + Math.max(-most, Math.min(most, ahead)));
}
