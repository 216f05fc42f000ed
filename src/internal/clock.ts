/** Time in whole milliseconds since 1970, and timers at such times. */
export interface Clock {
  now(): number;
  /**
   * Calls back once, not before `at`, never within this call. Times past come at the next turn; `Infinity` never comes.
   */
  setTimer(at: number, callback: () => void, options?: TimerOptions): Timer;
}

export interface TimerOptions {
  /** Does not keep the process alive. */
  readonly unref?: boolean;
}

export interface Timer {
  /** Does nothing once the timer has gone off. */
  cancel(): void;
}

/** A clock that follows another one, such as a database's. */
export interface AdjustableClock extends Clock {
  /** It is this late now. Timers move with it: those that became due go off. `now` may step back. */
  adjust(now: number): void;
}

/** Longer waits overflow `setTimeout`, which would then go off at once. */
const LONGEST_WAIT = 2 ** 31 - 1;
/** Timers are set anew only when the clock was moved by this much since they were set: it is moved a little all the time. */
const DRIFT = 20;

/**
 * The real time, read from the system once and counted on from there without it, so that somebody who sets the system's
 * clock neither speeds up nor delays anything. Only `adjust` moves it.
 */
export function createClock(): AdjustableClock {
  const pending = new Set<PendingTimer>();
  let base = Date.now() - performance.now();
  let armedBase = base;

  const now = (): number => Math.floor(base + performance.now());
  return {
    now,
    setTimer(at, callback, options = {}) {
      if (Number.isNaN(at)) throw new TypeError("A timer needs a time, not NaN.");
      const timer = new PendingTimer(at, callback, { now, pending, unref: options.unref === true });
      timer.arm();
      return timer;
    },
    adjust(current) {
      if (!Number.isFinite(current)) throw new TypeError(`A clock cannot be set to ${current}.`);
      base = current - performance.now();
      if (Math.abs(base - armedBase) < DRIFT) return;
      armedBase = base;
      for (const timer of pending) timer.arm();
    },
  };
}

/** The share of the time since the last comparison by which a clock may be moved. Real clocks drift apart by less than a tenth of it. */
const MAX_SLEW = 0.01;

/**
 * Moves a clock towards the time of another one, by at most 1 % of the milliseconds that passed since they were last compared: drift is
 * made up for, while a jump of the other clock hardly moves deadlines that are running.
 */
export function slewTowards(clock: AdjustableClock, other: number, elapsed: number): void {
  const most = Math.max(0, elapsed) * MAX_SLEW;
  const ahead = other - clock.now();
  if (ahead !== 0) clock.adjust(clock.now() + Math.max(-most, Math.min(most, ahead)));
}

interface TimerHost {
  readonly now: () => number;
  readonly pending: Set<PendingTimer>;
  readonly unref: boolean;
}

class PendingTimer implements Timer {
  readonly #at: number;
  readonly #callback: () => void;
  readonly #host: TimerHost;
  #timeout: NodeJS.Timeout | undefined;

  constructor(at: number, callback: () => void, host: TimerHost) {
    this.#at = at;
    this.#callback = callback;
    this.#host = host;
  }

  arm(): void {
    clearTimeout(this.#timeout);
    if (this.#at === Number.POSITIVE_INFINITY) return;
    this.#host.pending.add(this);
    const wait = Math.min(Math.max(this.#at - this.#host.now(), 0), LONGEST_WAIT);
    this.#timeout = setTimeout(() => this.#elapsed(), wait);
    if (this.#host.unref) this.#timeout.unref();
  }

  cancel(): void {
    clearTimeout(this.#timeout);
    this.#host.pending.delete(this);
  }

  #elapsed(): void {
    // Only a part of a long wait is over, the clock was set back, or the system's timer came a little early.
    if (this.#host.now() < this.#at) {
      this.arm();
      return;
    }
    this.#host.pending.delete(this);
    this.#callback();
  }
}
